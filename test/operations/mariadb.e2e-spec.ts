import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rm } from 'node:fs/promises';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { atOnce, times } from '../support/at-once.js';
import { aCleanUp } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { unavailable } from '../support/expected.js';
import { untilNumbered } from '../support/feed.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount, anOrgOf } from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { type Instance, startOwnService } from '../support/service.js';
import { exitCode, spawnService } from '../support/service-process.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { examine } from '../support/accounts-command.js';
import { aServiceCaller } from '../support/services.js';

const PAGE = resolve(import.meta.dirname, '../../docs/security.md');
const EVENT = { type: 'session.started', at: 1, actor_type: 'user', data: '{}' };

// SQLite has no accounts.
describe.runIf(engine === 'mariadb')('a database account', () => {
  let installation: Installation;
  let database: string;

  beforeAll(async () => {
    installation = await anInstallation();
    await migrate(parseEnv(installation.env), SCHEMA);
    database = new URL(installation.db.url).pathname.slice(1);
  });
  afterAll(() => installation.remove());

  it('that does not exist stops the start, in one line', async () => {
    const env = { ...installation.env, DATABASE_URL: `${installation.db.url}_missing` };
    const service = spawnService(installation.directory, env);
    expect(await exitCode(service)).toBe(1);
    expect(service.stderr).toEqual([expect.stringMatching(/^DATABASE_URL: .*Unknown database/)]);
  });

  /** The installation as the service has it with the name and password of this account. */
  function as(username: string, password: string): Installation {
    const url = Object.assign(new URL(installation.db.url), { username, password });
    return { ...installation, env: { ...installation.env, DATABASE_URL: url.href, MIGRATIONS: 'check' } };
  }

  describe('that may only add to the record of changes', () => {
    let account: Installation;
    let prune: string[];

    beforeAll(async () => {
      const [grants, statements] = documented(database) as [string[], string[]];
      prune = statements;
      for (const statement of grants) {
        for (const row of await installation.db.query(statement)) {
          for (const printed of Object.values(row)) await installation.db.query(String(printed));
        }
      }
      account = as(`${database}_run`, 'another long secret');
    });

    it('is enough for the service, whose record grows, and to delete an account with its addresses', async () => {
      const service = await startOwnService({ installation: account });
      const ada = await anAccount(service, 'ada');
      const org = await anOrgOf(ada);
      await ada.delete(`/api/orgs/${org.id}`);
      expect((await ada.delete('/api/me', { password: ada.password })).status).toBe(200);
      await service.stop();

      const recorded = await installation.db.query('SELECT type, ip FROM events ORDER BY id');
      expect(recorded.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['account.registered', 'org.created', 'org.deleted', 'account.deleted']),
      );
      expect(new Set(recorded.map(({ ip }) => ip))).toEqual(new Set([null]));
    });

    it('can neither change nor delete what is recorded', async () => {
      const connection = await createConnection(account.env['DATABASE_URL']!);
      for (const sql of [
        'DELETE FROM events',
        "UPDATE events SET type = 'org.renamed'",
        'UPDATE events SET actor_id = NULL',
        'TRUNCATE TABLE events',
        'DROP TABLE events',
        'ALTER TABLE events DROP COLUMN type',
      ]) {
        await expect(connection.query(sql), sql).rejects.toThrow(/denied/);
      }
      await connection.end();
    });

    it('has the clean-up say once that old rows stay, and do the rest; another account deletes them', async () => {
      const old = '01000000-0000-7000-8000-000000000000';
      await insertRow(installation.db, 'events', { ...EVENT, id: old, ip: '198.51.100.7' });
      const find = () => installation.db.query('SELECT ip FROM events WHERE id = ?', [old]);
      const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
      const dataSource = await aDataSource(account);
      const cleanUp = aCleanUp(dataSource);
      await cleanUp.deleteExpired();
      await cleanUp.deleteExpired();
      await dataSource.destroy();

      const said = expect.stringMatching(/may not delete from the audit log/) as unknown;
      expect(warn.mock.calls.map(([text]) => text as unknown)).toEqual([said]);
      warn.mockRestore();
      expect(await find()).toEqual([{ ip: null }]);
      for (const statement of prune) await installation.db.query(statement);
      expect(await find()).toEqual([]);
    });

    it('has each event told once, also where it may not mark what was told', async () => {
      await installation.db.query(`REVOKE UPDATE (pending) ON ${database}.events FROM ${database}_run@'%'`);
      const old = '01000000-0000-7000-8000-000000000001';
      await insertRow(installation.db, 'events', { ...EVENT, id: old });
      const place = () => installation.db.query('SELECT seq FROM feed WHERE event_id = ?', [old]);
      const service = await startOwnService({ installation: account });
      await untilNumbered(installation.db);
      const told = await place();
      await anAccount(service);
      await untilNumbered(installation.db);
      const dataSource = await aDataSource(account);
      const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
      await aCleanUp(dataSource).deleteExpired();
      warn.mockRestore();
      await dataSource.destroy();
      await service.stop();

      expect(told).toHaveLength(1);
      expect(await place()).toEqual(told);
    });
  });

  describe('that is refused something', () => {
    let user: string;
    let service: Instance;
    let ada: Account;

    beforeAll(async () => {
      user = `${database}_few@'%'`;
      // Enough for one request beside the work in the background, and not for many.
      const limited = "IDENTIFIED BY 'a long secret' WITH MAX_USER_CONNECTIONS 5";
      await installation.db.query(`CREATE USER ${user} ${limited}`);
      const tables = 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ?';
      for (const { name } of await installation.db.query(tables, [database]))
        await installation.db.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.${name} TO ${user}`);
      service = await startOwnService({ installation: as(`${database}_few`, 'a long secret') });
      ada = await anAccount(service);
    });
    afterAll(async () => {
      await service.stop();
      await installation.db.query(`DROP USER ${user}`);
    });

    it('makes others wait, or the service unavailable to them, where the server grants no further connection', async () => {
      const answers = await atOnce(times(24, (n) => () => ada.post('/api/orgs', { name: `Org ${n}` })));
      const statuses = new Set(answers.map(({ status }) => status));
      expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);
      expect(statuses).toContain(201);
      expect((await ada.post('/api/orgs', { name: 'Another' })).status).toBe(201);
    });

    it('makes it unavailable where a column is refused, until it is granted', async () => {
      await installation.db.query(`REVOKE SELECT ON ${database}.users FROM ${user}`);
      await installation.db.query(`GRANT SELECT (id) ON ${database}.users TO ${user}`);
      expect(await ada.get('/api/me')).toMatchObject(unavailable);
      await installation.db.query(`GRANT SELECT ON ${database}.users TO ${user}`);
      expect((await ada.get('/api/me')).status).toBe(200);
    });

    it.each([
      ['is locked', 'ACCOUNT LOCK', 'ACCOUNT UNLOCK'],
      ['has another password', "IDENTIFIED BY 'another secret'", "IDENTIFIED BY 'a long secret'"],
    ])('makes it unavailable where the account %s, until that is undone', async (_what, change, undo) => {
      await installation.db.query(`ALTER USER ${user} ${change}`);
      await installation.db.query(`KILL USER ${user}`);
      for (let count = 0; count < 3; count += 1) expect(await ada.get('/api/me')).toMatchObject(unavailable);
      await installation.db.query(`ALTER USER ${user} ${undo}`);
      expect((await ada.get('/api/me')).status).toBe(200);
    });
  });
});

function documented(database: string): string[][] {
  const section = /## An append-only database account\n([^]*?)\n## /.exec(readFileSync(PAGE, 'utf8'))![1]!;
  return [...section.matchAll(/```sql\n([^]*?)```/g)].map(([, block]) =>
    block!
      .replaceAll('accounts.', `${database}.`)
      .replaceAll("'accounts'", `'${database}'`)
      .replaceAll('accounts_run', `${database}_run`)
      .split(/;\n/)
      .filter((statement) => statement.trim() !== ''),
  );
}

const CLAIM = 'every acknowledged change survives a crash of the database server';
const COST = 'a crash can lose changes of the last second that were acknowledged';

describe.runIf(engine === 'mariadb')('a database server of its own', () => {
  let server: MariaDbServer;
  let installation: Installation;
  let host: string;

  beforeAll(async () => {
    server = await MariaDbServer.start({ args: ['--log-bin', '--binlog-format=MIXED', '--sync-binlog=0'] });
    host = `127.0.0.1:${server.port}`;
    installation = await anInstallation({ mariadbPort: server.port });
  });
  afterAll(async () => {
    await server.close();
    // Its database went with the server.
    await rm(installation.directory, { recursive: true });
  });

  it('that acknowledges commits before they are on its disk is a warning and a red line, with what it costs', async () => {
    await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    const service = await startOwnService({ installation });
    const { code, lines } = await examine(installation);
    await service.stop();

    const settings = ['innodb_flush_log_at_trx_commit=2', 'sync_binlog=0'];
    const logged = service.logs.map((line) => JSON.parse(line) as object);
    const warnings = logged.filter((line) => 'settings' in line);
    const msg = `the settings of the database are not durable: ${COST}`;
    expect(warnings).toMatchObject([{ level: 40, msg, host, settings }]);
    expect(code).toBe(1);
    const red = `RED    ${CLAIM}\n         ${host} has ${settings.join(', ')}: ${COST}`;
    expect(lines.join('\n')).toContain(red);
  });

  it('that has durable settings is no warning, and one that is gone is 503, and no dead service', async () => {
    await server.execute('SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL sync_binlog = 1');
    const service = await startOwnService({ installation });
    expect((await examine(installation)).lines).toContain(`green  ${CLAIM}`);
    expect(service.logs.filter((line) => line.includes('not durable'))).toEqual([]);
    const ada = await anAccount(service, 'ada');
    const billing = await aServiceCaller(service, 'introspect', 'memberships');

    await server.close();

    expect((await service.anyone.get('/health/live')).status).toBe(200);
    const ready = await service.anyone.get('/health/ready');
    expect(ready).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    const { email, password } = ada;
    for (const answer of [
      await ada.get('/api/me'),
      await ada.post('/api/orgs', { name: 'Engines' }),
      await service.anyone.post('/api/auth/login', { email, password }),
      await service.anyone.post('/api/auth/code/exchange', { code: 'A'.repeat(43) }),
      await billing.introspect({ token: ada.token }),
      await billing.get(`/api/memberships?userId=${ada.id}`),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    await service.stop();
  });
});
