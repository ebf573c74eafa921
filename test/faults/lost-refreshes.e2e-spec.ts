import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createClient, memoryStore } from '../../client/src/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anAccount } from '../support/personas.js';
import { jsonRequest, openConnection } from '../support/connections.js';
import { aRefreshableLogin, partsOf, refreshed, use } from '../support/refreshing.js';
import type { Instance } from '../support/service.js';
import {
  closeAfterTest,
  ENGINES,
  PASSWORD,
  register,
  startAt,
  startInstance,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { report } from './support/figures.js';
import { Balancer, present, Seat } from './support/fleet.js';
import { clientOf } from '../support/service-client.js';
import { StoppableService } from './support/stopped-process.js';

const SESSIONS = 20;
/** What a refresh and the first use of its tokens send to the database, in this order. */
const STATEMENTS = [
  'AS rotatedForMs',
  'UPDATE sessions AS s SET refresh_generation',
  'COMMIT',
  'SET seen_generation',
];

/** As if the last refresh and the last first use were an hour old. */
async function age(storage: Storage): Promise<void> {
  await storage.query('UPDATE sessions SET rotated_at = rotated_at - 3600000');
}

async function endedSessions(storage: Storage): Promise<unknown[]> {
  return storage.query("SELECT type, data FROM events WHERE type = 'session.ended'");
}

describe.each(ENGINES)('on %s', (engine) => {
  it.each(STATEMENTS)(
    'no client is logged out by an instance that is killed or frozen before "%s"',
    async (statement) => {
      const storage = await closeAfterTest(Storage.on(engine));
      const stoppable = await StoppableService.on(storage);
      const service = stoppable.process;
      const { email } = await register(clientOf(service.url));
      const client = createClient({ baseUrl: service.url, store: memoryStore(), timeoutMs: 2000 });
      expect(await client.login({ email, password: PASSWORD })).toMatchObject({ ok: true });

      for (const fault of ['freeze', 'kill', 'freeze', 'kill'] as const) {
        await age(storage);
        stoppable.stopBefore(statement);
        const refreshing = client.refresh().then(() => client.getMe());
        await stoppable.untilStopped();
        if (fault === 'kill') {
          await service.kill();
          await age(storage);
          await service.start();
        } else {
          // The client gives up, and its next attempt waits in the buffer of the instance.
          await refreshing;
          service.thaw();
        }
        await refreshing;

        for (const call of [() => client.getMe(), () => client.refresh()])
          await waitFor('the client is served again', hangTimeoutMs(), async () => {
            const result = await call();
            expect(result).not.toMatchObject({ problem: { code: 'invalid_refresh_token' } });
            return result.ok;
          });
      }
      expect(await endedSessions(storage)).toEqual([]);
      report({ faults: 4 });
    },
  );
});

/** Sends a refresh, and returns its connection. */
async function beginRefresh(url: string, refreshToken: string): Promise<Socket> {
  const { socket } = await openConnection(url);
  socket.on('error', () => undefined);
  await new Promise((sent) => socket.write(jsonRequest('POST /api/auth/refresh', { refreshToken }), sent));
  return socket;
}

async function abandonRefresh(url: string, refreshToken: string): Promise<void> {
  (await beginRefresh(url, refreshToken)).destroy();
}

/** Each user continues at another instance: the tokens that the frozen one was shown are old when it wakes. */
async function continueAt(other: Instance, storage: Storage, shown: readonly string[]): Promise<string[]> {
  const latest = await Promise.all(
    shown.map(async (refreshToken) => {
      const next = await refreshed(other, refreshToken);
      const last = await refreshed(other, next.refreshToken);
      await use(other, last);
      return last.refreshToken;
    }),
  );
  await age(storage);
  return latest;
}

async function someLogins(at: Instance, count: number): Promise<string[]> {
  const logins: string[] = [];
  for (let login = 0; login < count; login += 1) {
    const { refreshToken } = await aRefreshableLogin(at, await anAccount(at));
    logins.push((await refreshed(at, refreshToken)).refreshToken);
  }
  return logins;
}

async function expectAllAlive(other: Instance, storage: Storage, latest: readonly string[]): Promise<void> {
  for (const refreshToken of latest)
    expect(partsOf((await refreshed(other, refreshToken)).refreshToken).generation).toBeGreaterThan(3);
  expect(await endedSessions(storage)).toEqual([]);
  report({ faults: SESSIONS, wrong: 0 });
}

it('an instance that was frozen with refreshes in its buffer ends no session of clients that have gone', async () => {
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const frozen = await startAt(storage);
  const other = await closeAfterTest(startInstance(storage.installation, UNLIMITED));
  const shown = await someLogins(other, SESSIONS);

  frozen.freeze();
  await Promise.all(shown.map((refreshToken) => abandonRefresh(frozen.url, refreshToken)));
  const latest = await continueAt(other, storage, shown);
  frozen.thaw();
  expect((await fetch(`${frozen.url}/health/ready`)).status).toBe(200);
  expect((await frozen.stop()).code).toBe(0);

  await expectAllAlive(other, storage, latest);
});

it.each(STATEMENTS.slice(0, 2))(
  'an instance that was frozen before "%s" ends no session of a client that has gone',
  async (statement) => {
    const storage = await closeAfterTest(Storage.on('mariadb'));
    const stoppable = await StoppableService.on(storage);
    const other = await closeAfterTest(startInstance(storage.installation, UNLIMITED));
    const shown = await someLogins(other, 1);

    stoppable.stopBefore(statement);
    const socket = await beginRefresh(stoppable.process.url, shown[0]!);
    await stoppable.untilStopped();
    socket.destroy();
    const latest = await continueAt(other, storage, shown);
    stoppable.process.thaw();
    expect((await stoppable.process.stop()).code).toBe(0);

    await expectAllAlive(other, storage, latest);
  },
);

it('an instance that was frozen behind the load balancer ends no session of clients that have gone', async () => {
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const { installation } = storage;
  const [frozen, serving] = [await Seat.at(installation, UNLIMITED), await Seat.at(installation, UNLIMITED)];
  for (const seat of [frozen, serving]) await (await closeAfterTest(seat)).start(present);
  const balancer = await closeAfterTest(Balancer.before([frozen, serving, serving]));
  const other = await closeAfterTest(startInstance(installation, UNLIMITED));
  const shown = await someLogins(other, SESSIONS);

  frozen.freeze();
  await Promise.all(shown.map((refreshToken) => abandonRefresh(balancer.url, refreshToken)));
  const latest = await continueAt(other, storage, shown);
  frozen.thaw();
  expect((await fetch(`${frozen.url}/health/ready`)).status).toBe(200);
  await frozen.stop();

  await expectAllAlive(other, storage, latest);
});
