import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examine } from '../support/doctor.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { startService } from '../support/service.js';
import { exitCode, spawnService } from '../support/service-process.js';

const FILES = ['accounts.sqlite', 'accounts.sqlite-shm', 'accounts.sqlite-wal', 'accounts.sqlite.lock'];
const PRIVATE = Object.fromEntries(FILES.map((name) => [name, '600']));

describe.runIf(engine === 'sqlite')('the files of the embedded database', () => {
  let installation: Installation;
  /** others may look into it */
  let directory: string;
  let file: string;

  beforeEach(async () => {
    installation = await anInstallation();
    directory = join(installation.directory, 'open');
    file = join(directory, 'accounts.sqlite');
    await mkdir(directory);
    await chmod(directory, 0o755);
  });
  afterEach(() => installation.remove());

  const at = (path: string) => ({ DATABASE_URL: `sqlite:${path}` });

  async function modes(): Promise<Record<string, string>> {
    const names = (await readdir(directory)).toSorted();
    const found = await Promise.all(names.map(async (name) => [name, await modeOf(name)] as const));
    return Object.fromEntries(found);
  }

  const modeOf = async (name: string) => ((await stat(join(directory, name))).mode & 0o777).toString(8);

  /** The umask decides about files that are created without a mode. */
  async function withOpenUmask<T>(work: () => Promise<T>): Promise<T> {
    const usual = process.umask(0);
    try {
      return await work();
    } finally {
      process.umask(usual);
    }
  }

  async function refusal(path: string): Promise<string[]> {
    const service = spawnService(installation.directory, { ...installation.env, ...at(path) });
    expect(await exitCode(service), service.logs.join('\n')).toBe(1);
    return service.stderr;
  }

  it('are created readable only by their owner, in any directory and with any umask', async () => {
    const service = await withOpenUmask(() => startService({ installation, env: at(file) }));
    await anAccount(service);

    expect(await modes()).toEqual(PRIVATE);
    await service.stop();
    expect(await modes()).toEqual({ [FILES[0]!]: '600', [FILES[3]!]: '600' });
  });

  it('lose the access of group and others, and the log says so', async () => {
    const killed = spawnService(installation.directory, { ...installation.env, ...at(file) });
    await killed.url;
    killed.child.kill('SIGKILL');
    await exitCode(killed);
    await Promise.all(
      FILES.map((name, index) => chmod(join(directory, name), [0o644, 0o640, 0o604][index % 3]!)),
    );

    const service = await startService({ installation, env: at(file) });

    await anAccount(service);
    expect(await modes()).toEqual(PRIVATE);
    expect(service.logs.filter((line) => line.includes('was readable by others'))).toHaveLength(4);
    await service.stop();

    const again = await startService({ installation, env: at(file) });
    expect(again.logs.join('\n')).not.toContain('was readable by others');
    await again.stop();
  });

  it('are not changed by the doctor', async () => {
    const service = await startService({ installation, env: at(file) });
    await anAccount(service);
    await Promise.all(FILES.map((name) => chmod(join(directory, name), 0o644)));

    expect(await examine(installation, at(file))).toMatchObject({ code: 0 });

    expect(await modes()).toEqual(Object.fromEntries(FILES.map((name) => [name, '644'])));
    await service.stop();
  });

  it('are not created by the doctor, nor is their directory', async () => {
    const answer = await examine(installation, at(join(directory, 'nowhere', 'accounts.sqlite')));

    expect(answer).toMatchObject({ code: 2, errors: expect.stringMatching(/^DATABASE_URL: [^\n]+\n$/) });
    expect(await examine(installation, at(file))).toMatchObject({ code: 2 });
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['the file', () => symlink(file, join(installation.directory, 'link')), 'link'],
    ['its directory', () => symlink(directory, join(installation.directory, 'link')), 'link/accounts.sqlite'],
  ])('serve one process, also by a symbolic link to %s', async (_what, link, path) => {
    const service = await startService({ installation, env: at(file) });
    await link();

    expect(await refusal(path)).toEqual([expect.stringMatching(/^DATABASE_URL: another process is using /)]);

    await service.stop();
    const second = await startService({ installation, env: at(path) });
    expect(await refusal(file)).toEqual([expect.stringMatching(/^DATABASE_URL: another process is using /)]);
    await second.stop();
  });

  it('are created where a dangling symbolic link points', async () => {
    await symlink('link-2', join(installation.directory, 'link'));
    await symlink('open/accounts.sqlite', join(installation.directory, 'link-2'));

    const service = await startService({ installation, env: at('link') });

    await anAccount(service);
    expect(await modes()).toEqual(PRIVATE);
    expect(await refusal(file)).toEqual([expect.stringMatching(/^DATABASE_URL: another process is using /)]);
    await service.stop();
  });

  it.each([
    ['a directory', () => mkdir(file)],
    ['a file of something else', () => writeFile(file, 'no database '.repeat(100))],
    ['a link to itself', () => symlink('accounts.sqlite', file)],
    ['a link into a directory that is not there', () => symlink('nowhere/accounts.sqlite', file)],
  ])('stop the start with one line for %s', async (_what, make) => {
    await make();

    expect(await refusal(file)).toEqual([
      expect.stringMatching(/^DATABASE_URL: the database cannot be opened/),
    ]);
  });

  it('do not replace another file, and nothing is created beside it', async () => {
    await writeFile(file, 'no database '.repeat(100));
    await chmod(file, 0o644);

    await refusal(file);

    expect(await modes()).toEqual({ 'accounts.sqlite': '644' });
  });

  it('stop the start with one line when their directory cannot be created', async () => {
    await writeFile(join(directory, 'file'), '');

    expect(await refusal(join(directory, 'file', 'accounts.sqlite'))).toEqual([
      expect.stringMatching(/^DATABASE_URL: the database cannot be opened/),
    ]);
  });
});
