import { open, rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { anInstallation } from '../support/installation.js';
import { clientOf, type Reply, type Send } from '../support/service-client.js';
import { BUILT_SERVICE, exitCode, spawnCommand, untilListening } from '../support/service-process.js';
import { closeAfterTest, register, startOn } from './support/deployment.js';
import { report } from './support/figures.js';

/** A file system of its own, which only the service sees. */
const ON_A_SMALL_DISK = 'mkdir small && mount -t tmpfs -o size=2m none small && exec "$@"';
const SMALL_DISK = ['unshare', '--mount', '--map-root-user', 'sh', '-c', ON_A_SMALL_DISK, 'sh'] as const;
const CHUNK = Buffer.alloc(4096);
const FULL = { status: 503, code: 'storage_full' };
const DEGRADED = { status: 200, body: { status: 'degraded', database: 'full' } };

const linesIn = (logs: readonly string[]): string[] =>
  logs.filter((line) => line.includes('the disk of the database is full'));

async function creatorOf(send: Send): Promise<{ token: string; create: () => Promise<Reply> }> {
  const { token } = await register(send);
  return { token, create: () => send('POST', '/api/orgs', { token, body: { name: 'Analytical Engines' } }) };
}

it('a full disk is named on SQLite by answers, log and readiness, and is over when there is space', async () => {
  const { directory, env } = await anInstallation({ engine: 'sqlite' });
  const service = spawnCommand([...SMALL_DISK, ...BUILT_SERVICE], directory, {
    JWT_KEYS_FILE: env['JWT_KEYS_FILE'],
    DATABASE_URL: 'sqlite:small/accounts.sqlite',
  });
  await closeAfterTest({ close: () => service.child.kill('SIGTERM') && exitCode(service) });
  const send = clientOf(await untilListening(service));
  const { token, create } = await creatorOf(send);
  const filler = `/proc/${service.child.pid}/root${directory}/small/filler`;

  await fill(filler);
  const refused: Reply[] = [];
  // The log of SQLite has some space left from before.
  for (let asked = 0; asked < 100 && refused.length < 3; asked += 1) {
    const answer = await create();
    if (answer.status !== 201) refused.push(answer);
  }
  const ready = await send('GET', '/health/ready');
  const read = await send('GET', '/api/me', { token });
  await rm(filler);
  const after = await create();

  expect(refused).toEqual(times(3, () => expect.objectContaining(FULL)));
  expect(JSON.stringify(refused)).not.toContain('cannot be reached');
  expect(refused.map(({ retryAfter }) => Number(retryAfter) > 0)).toEqual([true, true, true]);
  expect(ready).toMatchObject(DEGRADED);
  expect(read.status).toBe(200);
  expect(after.status).toBe(201);
  expect(linesIn(service.logs)).toHaveLength(1);
  report({ faults: 1, requests: refused.length, wrong: 0 });
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

it('a full disk is named on MariaDB', async () => {
  const { storage, service, send } = await startOn('mariadb');
  const { create } = await creatorOf(send);
  await storage.query(
    `CREATE TRIGGER full_disk BEFORE INSERT ON orgs FOR EACH ROW
       SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'`,
  );

  const refused = await create();
  const ready = await send('GET', '/health/ready');
  await storage.query('DROP TRIGGER full_disk');
  const after = await create();

  expect(refused).toMatchObject(FULL);
  expect(ready).toMatchObject(DEGRADED);
  expect(after.status).toBe(201);
  expect(linesIn(service.logs)).toHaveLength(1);
  report({ faults: 1, requests: 1, wrong: 0 });
});
