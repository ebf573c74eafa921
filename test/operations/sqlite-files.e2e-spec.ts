import { chmod, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { examine } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { exitCode, spawnService } from '../support/service-process.js';

const FILES = ['accounts.sqlite', 'accounts.sqlite-shm', 'accounts.sqlite-wal', 'accounts.sqlite.lock'];
const READS = 30;
const USED = [expect.stringMatching(/^DATABASE_URL: another process is using /)];
const UNOPENED = [expect.stringMatching(/^DATABASE_URL: the database cannot be opened/)];
const PRIVATE = Object.fromEntries(FILES.map((name) => [name, '600']));

describe.runIf(engine === 'sqlite')('the files of the embedded database', () => {
  let installation: Installation;
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

  const modeOf = async (name: string) => ((await stat(join(directory, name))).mode & 0o777).toString(8);
  async function modes(): Promise<Record<string, string>> {
    const names = await readdir(directory);
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await modeOf(name)] as const)),
    );
  }

  async function refusal(path: string): Promise<string[]> {
    const service = spawnService(installation.directory, { ...installation.env, ...at(path) });
    expect(await exitCode(service), service.logs.join('\n')).toBe(1);
    return service.stderr;
  }

  it('are readable only by their owner, in any directory and with any umask, and become so again', async () => {
    // The umask decides about files that are created without a mode. A process of its own inherits it.
    const usual = process.umask(0);
    const env = { ...at(file), NODE_OPTIONS: '' };
    const service = await startOwnService({ installation, env }).finally(() => process.umask(usual));
    await anAccount(service);
    expect(await modes()).toEqual(PRIVATE);

    for (const name of FILES) await chmod(join(directory, name), name.endsWith('l') ? 0o604 : 0o640);
    const opened = await modes();
    expect(await examine(installation, at(file))).toMatchObject({ code: 0 });
    expect(await modes(), 'the doctor changes none').toEqual(opened);
    await service.kill();

    const restarted = await startOwnService({ installation, env: at(file) });
    await anAccount(restarted);
    expect(await modes()).toEqual(PRIVATE);
    expect(restarted.logs.filter((line) => line.includes('was readable by others'))).toHaveLength(4);
    await restarted.stop();
    expect(await modes()).toEqual({ [FILES[0]!]: '600', [FILES[3]!]: '600' });
  });

  it('are not created by the doctor, nor is their directory', async () => {
    const answer = await examine(installation, at(join(directory, 'nowhere', 'accounts.sqlite')));
    expect(answer).toMatchObject({ code: 2, errors: expect.stringMatching(/^DATABASE_URL: [^\n]+\n$/) });
    expect(await examine(installation, at(file))).toMatchObject({ code: 2 });
    expect(await readdir(directory)).toEqual([]);
  });

  it('serve one process, also by a symbolic link to the file, its directory or a file to be created', async () => {
    await symlink('open/accounts.sqlite', join(installation.directory, 'link-2'));
    await symlink('link-2', join(installation.directory, 'to-file'));
    await symlink(directory, join(installation.directory, 'to-directory'));

    const service = await startOwnService({ installation, env: at('to-file') });
    await anAccount(service);
    expect(await modes()).toEqual(PRIVATE);
    for (const path of [file, 'to-directory/accounts.sqlite']) expect(await refusal(path)).toEqual(USED);
    await service.stop();

    const second = await startOwnService({ installation, env: at('to-directory/accounts.sqlite') });
    expect(second.logs.join('\n')).not.toContain('was readable by others');
    for (const path of [file, 'to-file']) expect(await refusal(path)).toEqual(USED);
    await second.stop();
  });

  it.each([
    ['a directory', () => mkdir(file)],
    ['a link to itself', () => symlink('accounts.sqlite', file)],
    ['a link into a directory that is not there', () => symlink('nowhere/accounts.sqlite', file)],
    [
      'a directory that cannot be created',
      () => rm(directory, { recursive: true }).then(() => writeFile(directory, '')),
    ],
  ])('stop the start with one line for %s', async (_what, make) => {
    await make();
    expect(await refusal(file)).toEqual(UNOPENED);
  });

  it('do not replace a file of something else, and nothing is created beside it', async () => {
    await writeFile(file, 'no database '.repeat(100));
    await chmod(file, 0o644);
    expect(await refusal(file)).toEqual(UNOPENED);
    expect(await modes()).toEqual({ 'accounts.sqlite': '644' });
  });

  it('may be written by another process: reads continue, a write waits, and is refused if it waits too long', async () => {
    const service = await startOwnService({ installation });
    const ada = await anAccount(service, 'ada');
    const other = new DatabaseSync(service.db.url.replace('sqlite:', ''));
    other.exec('BEGIN IMMEDIATE');
    let isWritten = false;
    const write = anOrgOf(ada).finally(() => (isWritten = true));

    // SQLite's own way of waiting would hold up the reads for as long as the write.
    for (const _ of times(READS, () => 0)) expect((await ada.get('/api/me')).status).toBe(200);
    expect(isWritten).toBe(false);
    other.exec('COMMIT');
    expect((await ada.get(`/api/orgs/${(await write).id}`)).status).toBe(200);

    other.exec('BEGIN IMMEDIATE');
    const answer = await ada.post('/api/orgs', { name: 'Never' });
    other.exec('ROLLBACK');
    other.close();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await service.db.query("SELECT id FROM orgs WHERE name = 'Never'")).toEqual([]);
    await service.stop();
  });
});
