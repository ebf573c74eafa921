import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const run = (...options: string[]): unknown[] => {
  const { status, stdout } = spawnSync(process.execPath, ['test/logins/run.ts', '--seed', '1', ...options], {
    encoding: 'utf8',
  });
  return [status, stdout];
};

it('finds no order of events that logs a user out, or lets a thief and the user both continue', () => {
  const [status, stdout] = run('--histories', '2000');
  expect(stdout).toContain('no violation in 2000 histories');
  expect(status).toBe(0);
  const rare =
    'thief uses|reissue|repeat|reused|newer|ended|client has gone|power cut|file restored|database restored';
  for (const name of rare.split('|')) expect(stdout).toMatch(new RegExp(` ${name} [1-9]`));
});

it('finds each known mistake', () => {
  expect(run('--known-bad')).toEqual([0, expect.not.stringContaining('no violation')]);
});
