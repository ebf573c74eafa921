import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AS_AN_OLD_NODE } from '../support/old-node.js';

describe('on a Node that is too old', () => {
  it.each([
    ['the service', ['main.js'], 'npm start', 1],
    ['the command line', ['cli/main.js', 'doctor'], 'npm run accounts', 2],
  ])('%s says so in one line', (_what, [file, ...parameters], command, code) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [resolve(import.meta.dirname, '../../dist', file!), ...parameters],
      { encoding: 'utf8', cwd: tmpdir(), env: { NODE_OPTIONS: AS_AN_OLD_NODE } },
    );

    expect(stderr).toMatch(/^Node 24\.16 or newer is needed .*this is \d+\.\d+\.\d+[^\n]+\n$/);
    expect(stderr).toContain(command);
    expect([status, stdout]).toEqual([code, '']);
  });
});
