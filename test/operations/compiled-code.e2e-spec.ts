import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { engine } from '../support/engine.js';

const ROOT = resolve(import.meta.dirname, '../..');

// The database does not decide.
describe.runIf(engine === 'sqlite')('compiled code', () => {
  let project: string;
  let temporary: string;

  beforeEach(async () => {
    project = temporaryDirectory('project');
    temporary = join(project, 'tmp');
    await mkdir(temporary);
    for (const name of ['package.json', 'dist'])
      await cp(join(ROOT, name), join(project, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  });

  function run(entry: string, env: Record<string, string> = {}) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(project, 'dist', entry), '--version'],
      { encoding: 'utf8', cwd: project, env: { TMPDIR: temporary, ...env } },
    );
    return { status, stdout, stderr };
  }

  it.each([
    ['the service', 'main.js', { PORT: 'none' }, 1],
    ['the command line', 'cli/main.js', {}, 0],
  ])('of %s is kept beside the build', async (_what, entry, env, status) => {
    expect(run(entry, env)).toMatchObject({ status });

    const [folder, ...others] = await readdir(join(project, 'cache'));
    expect(others).toEqual([]);
    expect((await readdir(join(project, 'cache', folder!))).length).toBeGreaterThan(0);
    expect(await readdir(temporary)).toEqual([]);
  });

  it('is kept nowhere, and nobody is told, if nothing can be written beside the build', async () => {
    await writeFile(join(project, 'cache'), '');
    expect(run('cli/main.js')).toEqual({ status: 0, stdout: expect.stringMatching(/^\d\S+\n$/), stderr: '' });
    expect(await readdir(temporary)).toEqual([]);
  });

  it('is where NODE_COMPILE_CACHE says, and not beside the build', async () => {
    expect(run('cli/main.js', { NODE_COMPILE_CACHE: join(temporary, 'kept') }).status).toBe(0);
    expect(await readdir(temporary)).toEqual(['kept']);
    await expect(readdir(join(project, 'cache'))).rejects.toThrow('ENOENT');
  });
});
