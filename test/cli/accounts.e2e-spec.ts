import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const CLI = resolve(import.meta.dirname, '../../dist/cli/main.js');

it.each([[[]], [['unknown']], [['toString']]])('shows its usage and exits with 2, for %j', (parameters) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...parameters], {
    encoding: 'utf8',
    cwd: tmpdir(),
  });

  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: 'usage: accounts doctor\n' });
});
