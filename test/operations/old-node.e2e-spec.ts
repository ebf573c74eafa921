import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { findOldNode } from '../support/old-node.js';

const oldNode = findOldNode();

/** It cannot load what the entry points import: they must not get that far. Where there is none, unit tests hold that. */
describe.runIf(engine === 'sqlite' && oldNode !== undefined)('on a Node that is too old', () => {
  it.each([
    ['the service', 'main.js', 'npm start', 1],
    ['the doctor', 'doctor.js', 'npm run doctor', 2],
  ])('%s says so in one line', (_what, file, command, code) => {
    const { status, stdout, stderr } = spawnSync(
      oldNode!,
      [resolve(import.meta.dirname, '../../dist', file)],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      },
    );

    expect(stderr).toMatch(/^Node \d+ or newer is needed, this is [\d.]+\. Start with: [^\n]+\n$/);
    expect(stderr).toContain(command);
    expect([status, stdout]).toEqual([code, '']);
  });
});
