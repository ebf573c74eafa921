import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aheadBy } from '../support/clock.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { exitCode, type ServiceProcess, spawnService, untilListening } from '../support/service-process.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const FOR_LONG_MS = 600_000;

describe.runIf(engine === 'mariadb')('the migration lease', () => {
  let installation: Installation;
  let other: Connection;

  beforeEach(async () => {
    installation = await anInstallation();
    other = await createConnection(installation.db.url);
    await other.query(`CREATE TABLE migrations_lease
      (id integer NOT NULL PRIMARY KEY, holder varchar(36) NOT NULL, expires_at bigint NOT NULL)`);
    await other.query("INSERT INTO migrations_lease VALUES (1, '', 0)");
  });
  afterEach(async () => {
    await other.end();
    await installation.remove();
  });

  const start = (env = {}): ServiceProcess =>
    spawnService(installation.directory, { ...installation.env, ...env });

  async function tables(): Promise<unknown[]> {
    const rows = await installation.db.query(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
    );
    return rows.map(({ name }) => name);
  }

  async function expiry(): Promise<number> {
    return Number((await installation.db.query('SELECT expires_at FROM migrations_lease'))[0]!['expires_at']);
  }

  const hand = (holder: string, expiresAt: number) =>
    installation.db.query('UPDATE migrations_lease SET holder = ?, expires_at = ?', [holder, expiresAt]);

  it('is waited for while another instance holds it', async () => {
    await hand('another instance', Date.now() + FOR_LONG_MS);
    const service = start();
    await vi.waitFor(
      () => expect(service.logs.join('\n')).toContain('waiting for another instance to migrate'),
      hangTimeoutMs(),
    );

    const end = Date.now() + 2000;
    await hand('another instance', end);
    while (Date.now() < end) {
      expect(await tables()).toEqual(['migrations_lease']);
      await sleep(50);
    }
    await untilListening(service);

    expect(await tables()).toContain('members');
    service.child.kill('SIGTERM');
    await exitCode(service);
  });

  it('is held by the clock of the database, whatever that of an instance shows', async () => {
    await hand('another instance', Date.now() + FOR_LONG_MS / 2);
    const service = start({ NODE_OPTIONS: aheadBy(FOR_LONG_MS) });
    await vi.waitFor(
      () => expect(service.logs.join('\n')).toContain('waiting for another instance to migrate'),
      hangTimeoutMs(),
    );

    expect(await tables()).toEqual(['migrations_lease']);
    await hand('', 0);
    await untilListening(service);
    service.child.kill('SIGTERM');
    await exitCode(service);
  });

  it('is renewed, and its loss stops the migration, which the next start completes', async () => {
    await other.query(
      'CREATE TABLE migrations (id int AUTO_INCREMENT PRIMARY KEY, timestamp bigint, name text)',
    );
    // The migration can do its work but cannot record it.
    await other.query('LOCK TABLES migrations READ');
    const service = start({ DATABASE_POOL_SIZE: '2' });
    await vi.waitFor(async () => expect(await tables()).toContain('members'), hangTimeoutMs());
    const taken = await expiry();
    await vi.waitFor(async () => expect(await expiry()).toBeGreaterThan(taken), hangTimeoutMs());

    await hand('another instance', Date.now() + FOR_LONG_MS);

    expect(await exitCode(service)).toBe(1);
    expect(service.stderr).toEqual([expect.stringMatching(/^MIGRATIONS: .*lease/)]);
    expect(await expiry()).toBeGreaterThan(Date.now());

    await other.query('UNLOCK TABLES');
    await hand('', 0);
    const next = start();
    await untilListening(next);
    const noted = await installation.db.query('SELECT name FROM migrations');
    expect(noted).not.toEqual([]);
    expect(new Set(noted.map(({ name }) => name)).size).toBe(noted.length);
    next.child.kill('SIGTERM');
    await exitCode(next);
  });
});
