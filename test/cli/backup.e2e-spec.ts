import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount, anOrgOf, type Org } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';

let installation: Installation;
/** on SQLite, whatever this run is about */
let file: Installation;
let service: Instance;
let owner: Account;
let org: Org;

beforeAll(async () => {
  installation = await anInstallation();
  file = engine === 'sqlite' ? installation : await anInstallation({ engine: 'sqlite' });
  service = await startOwnService({ installation: file, env: { RATE_LIMIT_REGISTER: 'off' } });
  owner = await anAccount(service, 'owner');
  org = await anOrgOf(owner);
});
afterAll(async () => {
  await service.stop();
  await installation.remove();
  if (file !== installation) await file.remove();
});

const pathOf = (name: string) => join(file.directory, name);
const urlOf = (path: string) => ({ DATABASE_URL: `sqlite:${path}` });

describe.runIf(engine === 'sqlite')('accounts backup', () => {
  it('copies the database beside a running service, to a file of which only its owner reads', async () => {
    const copy = pathOf('copy.sqlite');
    const writes = Array.from({ length: 20 }, () => anAccount(service));

    const [result] = await accountsJson<object>(installation, ['backup', copy]);

    await Promise.all(writes);
    const { mode, size } = await stat(copy);
    expect(mode & 0o777).toBe(0o600);
    expect(result).toEqual({ file: copy, bytes: size, keysFile: installation.env['JWT_KEYS_FILE'] });
    expect(readdirSync(installation.directory).filter((name) => name.startsWith('copy'))).toEqual([
      'copy.sqlite',
    ]);
    const shown = await accountsJson<object>(installation, ['orgs', 'show', org.id], { env: urlOf(copy) });
    expect(shown).toMatchObject([{ id: org.id, members: [{ email: owner.email }] }]);
    expect((await accounts(installation, ['doctor'], { env: urlOf(copy) })).code).toBe(0);
  });

  it('is a database that the service starts on', async () => {
    const copy = pathOf('started.sqlite');
    await accountsJson(installation, ['backup', copy]);

    const restored = await startOwnService({ installation, env: urlOf(copy) });

    expect((await owner.at(restored).get(`/api/orgs/${org.id}`)).status).toBe(200);
    await restored.stop();
  });

  it('overwrites nothing, and leaves nothing where it cannot write', async () => {
    const present = pathOf('present.txt');
    writeFileSync(present, 'mine');

    const refused = await accounts(installation, ['backup', present]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe(`error: ${present} exists, and is not overwritten\n`);
    expect(await readFile(present, 'utf8')).toBe('mine');

    const nowhere = await accounts(installation, ['backup', pathOf('none/copy.sqlite')]);
    expect(nowhere).toMatchObject({ code: 2, stdout: '' });
    expect(nowhere.stderr).toMatch(/^error: the file cannot be written: ENOENT[^\n]+\n$/);
  });

  it('keeps no copy of a database of another schema', async () => {
    const other = await anInstallation();
    await accountsJson(other, ['migrate']);
    await other.db.query('ALTER TABLE orgs ADD COLUMN extra integer');

    const { code, stdout, stderr } = await accounts(other, ['backup', join(other.directory, 'copy.sqlite')]);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^refused: the copy is not sound and was removed: its schema [^\n]+\n$/);
    expect(existsSync(join(other.directory, 'copy.sqlite'))).toBe(false);
    expect(readdirSync(other.directory).filter((name) => name.startsWith('copy'))).toEqual([]);
    await other.remove();
  });
});

describe.runIf(engine === 'mariadb')('on MariaDB', () => {
  it('backup says what to run instead, without the password', async () => {
    const url = installation.env['DATABASE_URL']!.replace('root@', 'root:hidden@');
    const { code, stdout, stderr } = await accounts(installation, ['backup', 'copy.sql'], {
      env: { DATABASE_URL: url },
    });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^error: run umask 077 && mariadb-dump --single-transaction --host=127\.0\.0\.1 [^\n]+ > FILE\n$/,
    );
    expect(stderr).not.toContain('hidden');
  });

  it('copy-from moves everything from SQLite there, once', async () => {
    const source = file.env['DATABASE_URL']!.replace('sqlite:', '');
    const env = { JWT_KEYS_FILE: file.env['JWT_KEYS_FILE']! };
    await service.stop();
    const missing = await accounts(installation, ['copy-from', source]);
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toContain('run accounts migrate first');
    await accountsJson(installation, ['migrate']);

    const copied = await accountsJson<{ table: string; rows: number }>(installation, ['copy-from', source]);

    for (const { table, rows } of copied) {
      const count = `SELECT COUNT(*) AS total FROM ${table}`;
      expect(Number((await file.db.query(count))[0]!['total']), table).toBe(rows);
    }
    expect(copied).toEqual(expect.arrayContaining([{ table: 'orgs', rows: 1 }]));
    const moved = await startOwnService({ installation, env });
    expect((await owner.at(moved).get(`/api/orgs/${org.id}`)).status).toBe(200);
    expect((await accounts(installation, ['doctor'])).code).toBe(0);
    await moved.stop();

    const again = await accounts(installation, ['copy-from', source]);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toMatch(/^error: the table \w+ has rows already\n$/);
  });
});
