import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { exitCode, spawnService } from '../support/service-process.js';

/** What a Node before 24.16 lacks. */
const AS_OLD_NODE = `
  import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  delete crypto.randomUUIDv7;
  syncBuiltinESMExports();
`;

it('says in one line which Node is needed', async () => {
  const service = spawnService(tmpdir(), {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(AS_OLD_NODE)}`,
  });

  expect(await exitCode(service), service.logs.join('\n')).toBe(1);
  expect(service.logs).toEqual([
    expect.stringMatching(/^Node 24\.16 or newer is needed .*this is \d+\.\d+\.\d+/),
  ]);
});
