import { open, rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Send, clientOf } from '../support/service-client.js';
import {
  BUILT_SERVICE,
  exitCode,
  type ServiceProcess,
  spawnCommand,
  untilListening,
} from '../support/service-process.js';
import { report } from './support/figures.js';
import { startInstance } from './support/instance.js';
import { Storage } from './support/storage.js';
import { anInstallation } from '../support/installation.js';
import { anEmail, aPassword } from '../support/personas.js';

/** A file system of its own, which only the service sees. */
const ON_A_SMALL_DISK = 'mkdir small && mount -t tmpfs -o size=2m none small && exec "$@"';
const SMALL_DISK = ['unshare', '--mount', '--map-root-user', 'sh', '-c', ON_A_SMALL_DISK, 'sh'] as const;
const CHUNK = Buffer.alloc(4096);
const FULL = { status: 503, code: 'storage_full' };
const LINE = 'the disk of the database is full';

const register = (send: Send) =>
  send('POST', '/api/auth/register', { body: { email: anEmail(), password: aPassword() } });

async function anOrgBy(send: Send, token: unknown) {
  return send('POST', '/api/orgs', { token: String(token), body: { name: 'Analytical Engines' } });
}

describe('a full disk', () => {
  let storage: Storage | undefined;
  let service: ServiceProcess | undefined;

  beforeEach(() => {
    storage = undefined;
    service = undefined;
  });
  afterEach(async () => {
    service?.child.kill('SIGTERM');
    if (service) await exitCode(service);
    await storage?.close();
  });

  it('is named on SQLite by answers, log and readiness, and is over when there is space', async () => {
    const installation = await anInstallation({ engine: 'sqlite' });
    const { JWT_KEYS_FILE } = installation.env;
    service = spawnCommand([...SMALL_DISK, ...BUILT_SERVICE], installation.directory, {
      JWT_KEYS_FILE,
      DATABASE_URL: 'sqlite:small/accounts.sqlite',
    });
    const send = clientOf(await untilListening(service));
    const { token } = (await register(send)).body;
    const filler = `/proc/${service.child.pid}/root${installation.directory}/small/filler`;

    await fill(filler);
    const refused = [];
    // The log of SQLite has some space left from before.
    for (let asked = 0; asked < 100 && refused.length < 3; asked += 1) {
      const answer = await anOrgBy(send, token);
      if (answer.status !== 201) refused.push(answer);
    }
    const ready = await send('GET', '/health/ready');
    const read = await send('GET', '/api/me', { token: String(token) });
    await rm(filler);
    const after = await anOrgBy(send, token);

    expect(refused).toEqual(Array(3).fill(expect.objectContaining(FULL)));
    expect(JSON.stringify(refused)).not.toContain('cannot be reached');
    expect(refused.map(({ retryAfter }) => Number(retryAfter) > 0)).toEqual([true, true, true]);
    expect(ready).toMatchObject({ status: 200, body: { status: 'degraded', database: 'full' } });
    expect(read.status).toBe(200);
    expect(after.status).toBe(201);
    expect(service.logs.filter((line) => line.includes(LINE))).toHaveLength(1);
    report({ faults: 1, requests: refused.length, wrong: 0 });
  });

  it('is named on MariaDB', async () => {
    storage = await Storage.on('mariadb');
    const instance = await startInstance(storage.installation);
    const send = clientOf(instance.url);
    const { token } = (await register(send)).body;
    await storage.query(
      `CREATE TRIGGER full_disk BEFORE INSERT ON orgs FOR EACH ROW
         SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'`,
    );

    const refused = await anOrgBy(send, token);
    const ready = await send('GET', '/health/ready');
    await storage.query('DROP TRIGGER full_disk');
    const after = await anOrgBy(send, token);
    await instance.stop();

    expect(refused).toMatchObject(FULL);
    expect(ready).toMatchObject({ status: 200, body: { status: 'degraded', database: 'full' } });
    expect(after.status).toBe(201);
    expect(instance.logs.filter((line) => line.includes(LINE))).toHaveLength(1);
    report({ faults: 1, requests: 1, wrong: 0 });
  });
});

async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (;;) await handle.write(CHUNK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await handle.close();
  }
}
