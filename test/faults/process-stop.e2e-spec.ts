import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { describeSent, KeepAliveClient, type Sent } from '../support/keep-alive-client.js';
import { type Answer, loadDuring } from '../support/load.js';
import type { Org } from '../support/personas.js';
import { clientOf } from '../support/service-client.js';
import { Balancer, present as build, Seat } from './support/fleet.js';
import {
  closeAfterTest,
  countOf,
  ENGINES,
  PASSWORD,
  register,
  startAt,
  startOn,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';

const STOPS = 4;
const CLIENTS = 24;
const MAX_STOP_MS = 10_000;
const SILENCE_MS = 15_000;
// With the real cost, logins are queued when the signal comes.
const SLOW_LOGINS = { ...UNLIMITED, ARGON2_MEMORY_KIB: '19456', ARGON2_TIME: '2' };

const aClient = (url: string): Promise<KeepAliveClient> =>
  closeAfterTest(new KeepAliveClient(url, SILENCE_MS));

const orgNames = async (storage: Storage): Promise<string[]> =>
  (await storage.query('SELECT name FROM orgs')).map(({ name }) => String(name));

it.each(ENGINES)(
  'SIGTERM under load on %s answers every accepted request, does nothing for others, and exits with 0 within 10 s',
  async (engine) => {
    const random = new Random(seedOfRun(`SIGTERM on ${engine}`));
    const { storage, service, send } = await startOn(engine, SLOW_LOGINS);
    const { email, token } = await register(send);

    const orgs = new Map<string, Sent['kind']>();
    const counts = new Map<string, number>();
    let [longestAnswerMs, logins, asked] = [0, 0, 0];
    for (let stop = 0; stop < STOPS; stop += 1) {
      if (stop > 0) await service.start();
      const clients = await Promise.all(times(CLIENTS, () => aClient(service.url)));
      const step = async (worker: number): Promise<Answer> => {
        const client = clients[worker]!;
        asked += 1;
        const name = `stop ${stop} ${asked}`;
        const requests = [
          () => client.send('POST', '/api/auth/login', { body: { email, password: PASSWORD } }),
          () => client.send('POST', '/api/orgs', { token, body: { name } }),
          () => client.send('GET', '/api/me', { token }),
        ];
        const sent = await requests[worker % 3]!();
        if (worker % 3 === 1) orgs.set(name, sent.kind);
        if (worker % 3 === 0 && sent.kind === 'answered' && sent.status === 200) logins += 1;
        const label = describeSent(sent);
        counts.set(label, (counts.get(label) ?? 0) + 1);
        // The port is closed, which says nothing about the stop.
        if (sent.kind === 'refused') await sleep(20);
        return { outcome: sent.kind === 'answered' ? 'ok' : 'refused', label };
      };
      const history = await loadDuring(CLIENTS, step, async () => {
        await sleep(random.between(300, 900));
        const { code, tookMs } = await service.stop();
        expect(code, service.logs.slice(-5).join('\n')).toBe(0);
        expect(tookMs).toBeLessThan(MAX_STOP_MS);
      });
      const waits = history.durations(({ outcome }) => outcome === 'ok');
      longestAnswerMs = Math.max(longestAnswerMs, ...waits);
    }

    await service.start();
    console.info(engine, Object.fromEntries(counts));
    const kinds = [...counts.keys()].filter((label) => !/^(answered 20[01]|refused|closed, .*)$/.test(label));
    expect(kinds, 'requests that were taken and not answered with success').toEqual([]);

    const present = new Set(await orgNames(storage));
    const done = [...orgs].filter(([, kind]) => kind === 'answered').map(([name]) => name);
    const lost = done.filter((name) => !present.has(name));
    expect(lost, 'acknowledged and lost').toEqual([]);
    // A connection closed without a byte is excused only if the request was not done either.
    expect(present.size, 'organizations of requests without an answer').toBe(done.length);
    const sessions = await countOf(storage, 'sessions');
    expect(sessions, 'the registration and the logins that were answered').toBe(1 + logins);
    const acknowledged = done.length + logins;
    report({ faults: STOPS, requests: asked, wrong: 0, acknowledged, lost: 0, longestAnswerMs });
  },
);

it('a rolling restart of three instances on one MariaDB goes unnoticed by clients that retry on the next', async () => {
  const { storage, service, send } = await startOn('mariadb', SLOW_LOGINS);
  const services = [service, await startAt(storage, SLOW_LOGINS), await startAt(storage, SLOW_LOGINS)];
  const { token } = await register(send);
  const names: string[] = [];
  let notTaken = 0;

  const workers = await Promise.all(times(12, () => Promise.all(services.map(({ url }) => aClient(url)))));
  const history = await loadDuring(
    workers.length,
    async (worker, turn) => {
      const name = `rolling ${worker} ${turn}`;
      // What a load balancer does: a request that was not taken goes to the next one.
      for (let attempt = 0; attempt < 6; attempt += 1) {
        const client = workers[worker]![(turn + attempt) % services.length]!;
        const sent = await client.send('POST', '/api/orgs', { token, body: { name } });
        if (sent.kind === 'lost') return { outcome: 'unknown', label: `lost: ${sent.why}` };
        if (sent.kind === 'answered') {
          if (sent.status === 201) names.push((JSON.parse(sent.body) as { org: Org }).org.name);
          return { outcome: sent.status === 201 ? 'ok' : 'refused', label: String(sent.status) };
        }
        notTaken += 1;
      }
      return { outcome: 'unknown', label: 'not taken by any instance' };
    },
    async () => {
      for (const restarted of services) {
        await sleep(300);
        const { code, tookMs } = await restarted.stop();
        expect(code).toBe(0);
        expect(tookMs).toBeLessThan(MAX_STOP_MS);
        await restarted.start();
      }
      await sleep(300);
    },
  );
  console.info(Object.fromEntries(history.tally()), { notTaken });
  expect([...history.tally().keys()]).toEqual(['ok 201']);
  // Each once: a request that counted as not taken, and was repeated elsewhere, was not done the first time.
  expect((await orgNames(storage)).toSorted()).toEqual(names.toSorted());
  const requests = history.entries.length;
  const longestAnswerMs = Math.round(Math.max(...history.durations()));
  report({ faults: 3, requests, wrong: 0, acknowledged: names.length, lost: 0, longestAnswerMs });
});

it('restarts of instances behind HAProxy, by SIGTERM alone, lose no write that nobody retries', async () => {
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const env = { ...UNLIMITED, TRUST_PROXY: '127.0.0.1' };
  const seats = await Promise.all(times(3, () => closeAfterTest(Seat.at(storage.installation, env))));
  await Promise.all(seats.map((seat) => seat.start(build)));
  const balancer = await closeAfterTest(Balancer.before(seats));
  const { token } = await register(clientOf(balancer.url));
  const clients = await Promise.all(times(CLIENTS, () => aClient(balancer.url)));
  const names: string[] = [];

  const history = await loadDuring(
    clients.length,
    async (worker, turn) => {
      const name = `proxied ${worker} ${turn}`;
      const sent = await clients[worker]!.send('POST', '/api/orgs', { token, body: { name } });
      const label = describeSent(sent);
      if (label !== 'answered 201') return { outcome: 'unknown', label };
      names.push(name);
      // Connections of the balancer are idle from time to time.
      await sleep(worker);
      return { outcome: 'ok', label };
    },
    async () => {
      for (const seat of [...seats, ...seats]) {
        await seat.stop();
        await seat.start(build);
        await waitFor('the balancer uses it again', hangTimeoutMs(), () => seat.isAsked);
      }
    },
  );

  console.info(Object.fromEntries(history.tally()));
  expect([...history.tally().keys()]).toEqual(['ok answered 201']);
  expect((await orgNames(storage)).toSorted()).toEqual(names.toSorted());
  const requests = history.entries.length;
  report({ faults: 2 * seats.length, requests, wrong: 0, acknowledged: names.length, lost: 0 });
});
