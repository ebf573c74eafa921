import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { createDataSource, dataSourceOptions } from '../../src/database/database.module.js';
import { waitFor } from '../../tooling/wait.js';
import { asString } from '../support/service-client.js';
import {
  closeAfterTest,
  countOf,
  RestartableService,
  Storage,
  through,
  UNLIMITED,
} from './support/deployment.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';

/** of the built service, each to be applied once */
const MIGRATIONS = new Set(
  readdirSync(join(import.meta.dirname, '../../src/database/migrations')).flatMap(
    (file) => /^\d+(?=-)/.exec(file) ?? [],
  ),
);
const KILLS = 6;
const TABLES = 7;
const LEASE_MS = 30_000;

/** Reaches its database through a network whose faults the test controls. */
async function behindNetwork(storage: Storage) {
  const network = await closeAfterTest(FaultProxy.start(storage.server.port));
  const env = { ...UNLIMITED, ...through(network.port, storage.installation) };
  const service = await closeAfterTest(RestartableService.on(storage, env));
  return { service, network };
}

const tables = (storage: Storage, name = '%'): Promise<number> =>
  countOf(storage, `information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE '${name}'`);

async function wantedSchema(storage: Storage, service: RestartableService): Promise<unknown> {
  await service.start();
  const schema = await storage.schema();
  await service.stop();
  await storage.installation.db.empty();
  return schema;
}

const leaseIsHeld = async (storage: Storage): Promise<boolean> =>
  (await tables(storage, 'migrations_lease')) > 0 &&
  (await countOf(storage, `migrations_lease WHERE expires_at > ${Date.now()}`)) > 0;

async function expectMigratedOnce(storage: Storage): Promise<void> {
  const rows = await storage.query('SELECT name FROM migrations');
  const noted = rows.map((row) => /\d+$/.exec(asString(row['name']))?.[0]);
  expect(noted).toHaveLength(MIGRATIONS.size);
  expect(new Set(noted)).toEqual(MIGRATIONS);
}

it('a database that takes a login and then answers nothing does not hold up who connects to it', async () => {
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const network = await closeAfterTest(FaultProxy.start(storage.server.port));
  const env = parseEnv({ ...storage.installation.env, ...through(network.port, storage.installation) });
  const options = await dataSourceOptions(env, SCHEMA);
  await network.ignore();
  const attempt = createDataSource(options).initialize();
  await expect(attempt).rejects.toMatchObject({ code: 'POOL_ACQUIRE_TIMEOUT' });

  await network.pass();
  const dataSource = await createDataSource(options).initialize();
  await dataSource.destroy();
  report({ faults: 1, wrong: 0 });
});

it(
  'a database that stops answering during the first start ends it before the lease expires, and the next start completes it',
  { timeout: 180_000 },
  async () => {
    const storage = await closeAfterTest(Storage.on('mariadb'));
    const { service, network } = await behindNetwork(storage);
    const other = await createConnection(storage.installation.db.url);
    await closeAfterTest({ close: () => other.destroy() });
    await other.query(
      'CREATE TABLE migrations (id int AUTO_INCREMENT PRIMARY KEY, timestamp bigint, name text)',
    );
    // The migration can do its work but cannot record it.
    await other.query('LOCK TABLES migrations READ');
    service.launch();
    await waitFor('the migration is at its end', 60_000, async () => {
      return (await tables(storage, 'members')) > 0;
    });

    await network.drop();
    const since = performance.now();
    expect(await service.ended()).toBe(1);
    const noticedMs = performance.now() - since;
    expect(service.logs.at(-1)).toMatch(/^MIGRATIONS: .*lease/);
    expect(noticedMs).toBeLessThan(LEASE_MS);

    await network.pass();
    await other.query('UNLOCK TABLES');
    await service.start(LEASE_MS + 20_000);
    await expectMigratedOnce(storage);
    report({ faults: 1, wrong: 0, recoveriesMs: [noticedMs] });
  },
);

describe('kill -9 during the first start', () => {
  it('leaves a MariaDB that the next start completes', { timeout: 180_000 }, async () => {
    const storage = await closeAfterTest(Storage.on('mariadb'));
    const { service, network } = await behindNetwork(storage);
    const wanted = await wantedSchema(storage, service);

    const left: number[] = [];
    const recoveriesMs: number[] = [];
    for (let when = 1; when < TABLES; when += 1) {
      // Slows the migration down, so that it can be killed midway.
      await network.delay(40);
      service.launch();
      await waitFor(`${when} tables are there`, 60_000, async () => (await tables(storage)) >= when, 0);
      await service.kill();
      await network.pass();
      left.push(await tables(storage));
      // As if the lease of the killed one had expired; the next test waits for that.
      if ((await tables(storage, 'migrations_lease')) > 0)
        await storage.query('UPDATE migrations_lease SET expires_at = 0');

      recoveriesMs.push(await service.start());
      await expectMigratedOnce(storage);
      expect(await storage.schema(), `after a kill that left ${left.at(-1)} tables`).toEqual(wanted);
      await service.stop();
      await storage.installation.db.empty();
    }
    console.info('tables when killed:', left.join(', '));
    expect(Math.min(...left), 'tables, when at least one kill came in the middle').toBeLessThan(TABLES);
    report({ faults: left.length, wrong: 0, recoveriesMs });
  });

  it('delays the next start no longer than the lease of the killed one', { timeout: 180_000 }, async () => {
    const storage = await closeAfterTest(Storage.on('mariadb'));
    const service = await closeAfterTest(RestartableService.on(storage));
    // The lease is held only for a moment: a kill that comes too late is repeated.
    await waitFor('killed with the lease in hand', 60_000, async () => {
      await storage.installation.db.empty();
      service.launch();
      await waitFor('the lease is taken', 20_000, () => leaseIsHeld(storage), 0);
      await service.kill();
      return leaseIsHeld(storage);
    });

    const recoveriesMs = [await service.start(LEASE_MS + 20_000)];
    await expectMigratedOnce(storage);
    report({ faults: 1, wrong: 0, recoveriesMs });
  });

  it('leaves an SQLite file that the next start completes', { timeout: 120_000 }, async () => {
    const random = new Random(seedOfRun('kill -9 during migrations on sqlite'));
    const storage = await closeAfterTest(Storage.on('sqlite'));
    const service = await closeAfterTest(RestartableService.on(storage));
    const wanted = await wantedSchema(storage, service);
    const file = storage.installation.db.url.replace('sqlite:', '');

    const recoveriesMs: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      service.launch();
      await waitFor('the file is there', 20_000, () => existsSync(file), 0);
      await sleep(random.between(0, 60));
      await service.kill();
      recoveriesMs.push(await service.start());
      expect(await storage.faults()).toEqual([]);
      await expectMigratedOnce(storage);
      expect(await storage.schema()).toEqual(wanted);
      await service.stop();
      await storage.installation.db.empty();
    }
    report({ faults: KILLS, wrong: 0, recoveriesMs });
  });
});
