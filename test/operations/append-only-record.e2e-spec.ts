import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { aCleanUp } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { untilNumbered } from '../support/feed.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const PAGE = resolve(import.meta.dirname, '../../docs/operations.md');

describe.runIf(engine === 'mariadb')('an account that may only add to the record of changes', () => {
  let installation: Installation;
  let account: Installation;
  let grants: string[];
  let prune: string[];

  beforeAll(async () => {
    installation = await anInstallation();
    await migrate(parseEnv(installation.env), SCHEMA);
    const url = new URL(installation.db.url);
    const name = url.pathname.slice(1);
    [grants, prune] = documented(name) as [string[], string[]];
    for (const statement of grants) {
      for (const row of await installation.db.query(statement)) {
        for (const printed of Object.values(row)) await installation.db.query(String(printed));
      }
    }
    Object.assign(url, { username: `${name}_run`, password: 'another long secret' });
    const env = { ...installation.env, DATABASE_URL: url.href, MIGRATIONS: 'check' };
    account = { ...installation, env };
  });
  afterAll(() => installation.remove());

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
    await installation.db.query(
      `INSERT INTO events (id, type, at, actor_type, data, ip)
        VALUES (?, 'session.started', 1, 'user', '{}', '198.51.100.7')`,
      [old],
    );
    const find = () => installation.db.query('SELECT ip FROM events WHERE id = ?', [old]);
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const dataSource = await aDataSource(account);
    const cleanUp = aCleanUp(dataSource);
    await cleanUp.deleteExpired();
    await cleanUp.deleteExpired();
    await dataSource.destroy();

    expect(warn.mock.calls.map(([text]) => String(text))).toEqual([
      expect.stringMatching(/may not delete from the record of changes/),
    ]);
    warn.mockRestore();
    expect(await find()).toEqual([{ ip: null }]);
    for (const statement of prune) await installation.db.query(statement);
    expect(await find()).toEqual([]);
  });

  it('has each event told once, also where it may not mark what was told', async () => {
    const { username, pathname } = new URL(account.env['DATABASE_URL']!);
    await installation.db.query(
      `REVOKE UPDATE (pending) ON ${pathname.slice(1)}.events FROM ${username}@'%'`,
    );
    const old = '01000000-0000-7000-8000-000000000001';
    await installation.db.query(
      `INSERT INTO events (id, type, at, actor_type, data) VALUES (?, 'session.started', 1, 'user', '{}')`,
      [old],
    );
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

/** The statements of each block of the page, for another database and account. */
function documented(database: string): string[][] {
  const section = /## A record that can only grow\n([^]*?)\n## /.exec(readFileSync(PAGE, 'utf8'))![1]!;
  return [...section.matchAll(/```sql\n([^]*?)```/g)].map(([, block]) =>
    block!
      .replaceAll('accounts.', `${database}.`)
      .replaceAll("'accounts'", `'${database}'`)
      .replaceAll('accounts_run', `${database}_run`)
      .split(/;\n/)
      .filter((statement) => statement.trim() !== ''),
  );
}
