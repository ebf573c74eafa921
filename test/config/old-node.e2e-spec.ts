import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { AS_AN_OLD_NODE } from '../support/old-node.js';
import { exitCode, spawnService } from '../support/service-process.js';

it('says in one line which Node is needed', async () => {
  const service = spawnService(tmpdir(), { NODE_OPTIONS: AS_AN_OLD_NODE });

  expect(await exitCode(service), service.logs.join('\n')).toBe(1);
  expect(service.logs).toEqual([
    expect.stringMatching(/^Node 24\.16 or newer is needed .*this is \d+\.\d+\.\d+/),
  ]);
});
