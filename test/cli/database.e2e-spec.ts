import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson, failure } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { cursorExpired, invalidToken } from '../support/expected.js';
import { readFeed, readFeedAfter, writeEvents } from '../support/feed.js';
import { anInstallation } from '../support/installation.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';
import { exitCode, spawnService } from '../support/service-process.js';
import { Terminal } from '../support/terminal.js';

const installation = await anInstallation();
/** on SQLite, whatever this run is about */
const file = engine === 'sqlite' ? installation : await anInstallation({ engine: 'sqlite' });
const service = await startOwnService({ installation: file, env: { RATE_LIMIT_REGISTER: 'off' } });
const owner = await anAccount(service, 'owner');
const org = await anOrgOf(owner);
afterAll(async () => {
  await service.stop();
  await installation.remove();
  if (file !== installation) await file.remove();
});

it.each([
  [['doctor'], 'every migration of this version has run'],
  [['export', owner.email], 'KiB'],
])('shows on a terminal how far it is, and not in the result: accounts %j', async (parameters, text) => {
  const terminal = Terminal.open(file, parameters);
  const { code, stdout } = await terminal.result();

  expect({ code, shown: terminal.shown }).toMatchObject({ code: 0, shown: expect.stringContaining(text) });
  expect(terminal.shown.endsWith('\r\u001B[K')).toBe(true);
  expect(stdout).not.toContain('…');
});

describe.runIf(engine === 'mariadb')('on MariaDB', () => {
  it('copy-from moves everything from SQLite there, once', async () => {
    const source = file.env['DATABASE_URL']!.replace('sqlite:', '');
    const env = { JWT_KEYS_FILE: file.env['JWT_KEYS_FILE']! };
    await service.stop();
    expect(await accounts(installation, ['copy-from', source])).toEqual(
      failure(2, /run accounts migrate first/),
    );
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

    expect(await accounts(installation, ['copy-from', source])).toEqual(
      failure(2, /^error: the table \w+ has rows already\n$/),
    );
  });
});

describe('accounts migrate', () => {
  it('brings an empty database up to date once, beside a running service too', async () => {
    const empty = await anInstallation();
    const migrate = (env = {}) => accountsJson<{ applied: string[] }>(empty, ['migrate'], { env });

    const [first] = await migrate({ MIGRATIONS: 'check' });
    expect(first!.applied[0]).toMatch(/^CreateSchema/);
    expect(await migrate()).toEqual([{ applied: [] }]);

    const started = await startOwnService({ installation: empty, env: { MIGRATIONS: 'check' } });
    expect(await migrate()).toEqual([{ applied: [] }]);
    await started.stop();
    await empty.remove();
  });

  it('is needed where the database is of another version, in which no other command runs', async () => {
    const other = await anInstallation();
    const command = ['users', 'show', 'nobody@example.com'];
    await accountsJson(other, ['migrate']);
    const [last] = await other.db.query('SELECT id, name FROM migrations ORDER BY id DESC LIMIT 1');
    const rename = (name: string) =>
      other.db.query('UPDATE migrations SET name = ? WHERE id = ?', [name, last!['id']!]);
    await rename('Other');
    expect(await accounts(other, command)).toEqual(
      failure(2, /^error: the database has the schema of another version[^\n]+\n$/),
    );

    await rename(String(last!['name']));
    const later = "INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Later9999999999999')";
    await other.db.query(later);
    expect(await accounts(other, command)).toEqual(
      failure(2, /^error: the database has a newer schema[^\n]+\n$/),
    );
    await other.remove();
  });

  it('cannot upgrade a database of a version before 0.3.0, and neither can a start', async () => {
    const old = await anInstallation();
    await accountsJson(old, ['migrate']);
    const second =
      "INSERT INTO migrations (timestamp, name) VALUES (1795305600000, 'LinkSessions1795305600000')";
    await old.db.query(second);
    const refusal = /DATABASE_URL: a version before 0\.3\.0 made this database, which cannot be upgraded/;
    expect(await accounts(old, ['migrate'])).toEqual(failure(2, refusal));
    expect(await accounts(old, ['users', 'list'])).toEqual(failure(2, refusal));

    const started = spawnService(old.directory, old.env);
    expect(await exitCode(started)).toBe(1);
    expect(started.logs.join('\n')).toMatch(refusal);
    await old.remove();
  });
});

describe('without a database', () => {
  const { url, reason } = {
    sqlite: { url: 'sqlite:/dev/null/accounts.sqlite', reason: '/dev/null' },
    // Unlike the service, a command does not wait for a database that is not there.
    mariadb: { url: 'mysql://root@127.0.0.1:1/accounts', reason: 'ECONNREFUSED' },
  }[engine];

  /** One for each way to open it. */
  it.each([['users', 'list'], ['events', 'follow'], ['keys', 'prune'], ['migrate'], ['doctor']])(
    '%s %s ends with 2 and one line',
    async (...command) => {
      const nowhere = { directory: tmpdir(), env: { DATABASE_URL: url } };
      const result = await accounts(nowhere, command);
      expect(result).toEqual(failure(2, /^DATABASE_URL: the database cannot be opened [^\n]+\n$/));
      expect(result.stderr).toContain(reason);
    },
  );
});

it('accounts after-restore has every cursor refused, ends every session, and is told in the record', async () => {
  const restored = await anInstallation();
  let instance = await startOwnService({ installation: restored });
  const reader = await aServiceCaller(instance, 'events');
  const user = await anAccount(instance);
  const { next: first } = await readFeed(reader);
  await anOrgOf(user);
  const last = (await readFeedAfter(reader, first)).at(-1)!.id;
  const restore = async (reason: string) => {
    await instance.stop();
    await writeEvents(restored.db, [{}]);
    await accountsJson(restored, ['after-restore', '--reason', reason]);
    instance = await startOwnService({ installation: restored });
    return reader.at(instance);
  };
  const here = await restore('a test');

  for (const query of [`after=${first}`, `after=${first}&wait=15`, `after=${last}`, `after=${last}&wait=15`])
    expect(await here.get(`/api/events?${query}`)).toMatchObject(cursorExpired);
  const { events, next } = await readFeed(here);
  expect(events).toEqual([]);
  expect(await readFeed(here, { after: 'start' })).toEqual({ events: [], next });
  const ada = await anAccount(instance);
  for (const after of ['start', next]) {
    const page = await readFeed(here, { after, wait: 15 });
    expect(page.events.map(({ userId }) => userId)).toEqual([ada.id, ada.id]);
  }
  // Also those of epochs that the database has forgotten.
  expect(await user.at(instance).get('/api/me')).toMatchObject(invalidToken);
  const [row] = await restored.db.query('SELECT auth_epoch AS epoch FROM users WHERE id = ?', [user.id]);
  expect(Number(row!['epoch'])).toBeGreaterThan(1000);
  const ended = await accountsJson<{ reason: string }>(restored, ['events', '--type', 'session.ended']);
  expect(ended.map(({ reason }) => reason)).toContain('a test');

  expect(await (await restore('again')).get(`/api/events?after=${next}`)).toMatchObject(cursorExpired);
  await instance.stop();
  const { stdout } = await accounts(restored, ['after-restore', '--reason', 'a third time']);
  expect(stdout).toContain('services disabled or removed, their scopes, secrets and calls revoked');
  await restored.remove();
});
