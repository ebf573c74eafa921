import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor, within } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { keptAliveRequest, openConnection, PausedReader, requestBytes } from '../support/connections.js';
import { answerOf, loadDuring } from '../support/load.js';
import { type Account, anAccount } from '../support/personas.js';
import { addLongHistory, addOrgs } from '../support/rows.js';
import {
  closeAfterAll,
  closeAfterTest,
  PASSWORD,
  register,
  startInstance,
  startOn,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { report } from './support/figures.js';

/** as Node chooses it in 512 MiB */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };

/** `answer` is the first line of it, or nothing */
type Ended = { afterMs: number; answer: string };

it('200 slow clients are disconnected within 20 s while others are served', async () => {
  const maxMs = 20_000;
  const { service, send } = await startOn('sqlite');
  const { email, token } = await register(send);
  const port = Number(new URL(service.url).port);
  /** Sends `head` at once and then one byte a second for ever; resolves when the service ends the connection. */
  const slowConnection = (head: string, byte: string): Promise<Ended> =>
    new Promise((resolve) => {
      const since = performance.now();
      let answer = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(head));
      const drip = setInterval(() => socket.writable && socket.write(byte), 1000);
      // Given up after this, so that a service that never closes fails the test instead of holding it.
      const limit = setTimeout(() => socket.destroy(), maxMs * 2);
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('error', () => undefined);
      socket.once('close', () => {
        clearInterval(drip);
        clearTimeout(limit);
        resolve({ afterMs: performance.now() - since, answer: answer.split('\r\n')[0] ?? '' });
      });
    });
  const head = 'POST /api/auth/login HTTP/1.1\r\nHost: x\r\n';
  const bodyHead = `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
  const slow: Record<string, Ended[]> = {};
  const history = await loadDuring(
    3,
    async (worker) => {
      await sleep(50);
      const login = { email, password: PASSWORD };
      if (worker === 0) return answerOf(await send('POST', '/api/auth/login', { body: login }));
      return answerOf(await send('GET', '/api/me', { token }));
    },
    async () => {
      const heads = times(100, () => slowConnection(`${head}X-Slow: `, 'x'));
      const bodies = times(100, () => slowConnection(bodyHead, ' '));
      Object.assign(slow, { heads: await Promise.all(heads), bodies: await Promise.all(bodies) });
    },
  );

  for (const [what, ended] of Object.entries(slow)) {
    const answers = new Set(ended.map(({ answer }) => answer));
    const longestMs = Math.max(...ended.map(({ afterMs }) => afterMs));
    console.info(`slow ${what}:`, [...answers].join(' | ') || 'closed', `after ${Math.round(longestMs)} ms`);
    expect([...answers].filter((answer) => answer !== '' && !answer.startsWith('HTTP/1.1 408'))).toEqual([]);
    expect(longestMs, `slow ${what}`).toBeLessThan(maxMs);
  }
  expect([...history.tally().keys()], 'other requests').toEqual(['ok 200']);
  const longestAnswerMs = Math.max(...history.durations()) - 50;
  report({ faults: 200, requests: history.entries.length, wrong: 0, longestAnswerMs });
});

it('serves others while clients send requests for long answers ahead and read none', async () => {
  const clients = 30;
  const { installation } = await closeAfterTest(Storage.on('sqlite'));
  const service = await closeAfterTest(startInstance(installation, { ...UNLIMITED, ...SMALL_HEAP }));
  const [greedy, other] = await Promise.all([anAccount(service), anAccount(service)]);
  await addOrgs(installation.db, greedy, 5000, () => '\u{1F600}'.repeat(90));

  for (let opened = 0; opened < clients; opened += 1) {
    const { socket } = await openConnection(service.url);
    await closeAfterTest({ close: () => socket.destroy() });
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(keptAliveRequest('GET /api/me', [`Authorization: Bearer ${greedy.token}`]).repeat(20));
  }
  const cut = () => service.logs.filter((line) => line.includes('read nothing of the response')).length;
  const statuses: number[] = [];
  let peakMiB = 0;
  const served = async (): Promise<void> => {
    do {
      statuses.push((await other.get('/api/me')).status);
      peakMiB = Math.max(peakMiB, service.memoryMiB());
    } while (statuses.at(-1) === 200 && cut() < clients);
  };
  await within('the service cuts all of them off', hangTimeoutMs(), served());

  console.info(`${statuses.length} requests of others, at most ${Math.round(peakMiB)} MiB`);
  const wrong = statuses.filter((status) => status !== 200);
  report({ faults: clients, requests: statuses.length, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('serves others while one account sends 1,500 requests for long lists at once', async () => {
  const requests = 1500;
  const { installation } = await closeAfterTest(Storage.on('sqlite'));
  const service = await closeAfterTest(startInstance(installation, { ...UNLIMITED, ...SMALL_HEAP }));
  const [greedy, other] = await Promise.all([anAccount(service), anAccount(service)]);
  await addOrgs(installation.db, greedy, 500, () => '\u{1F600}'.repeat(90));

  const connections = await Promise.all(times(requests, () => openConnection(service.url)));
  for (const { socket } of connections) socket.on('error', () => undefined);
  const request = requestBytes('GET /api/me', [`Authorization: Bearer ${greedy.token}`]);
  for (const { socket } of connections) socket.write(request);
  const statuses: number[] = [];
  let peakMiB = 0;
  while (connections.some(({ socket }) => !socket.destroyed)) {
    statuses.push((await other.get('/api/me')).status);
    peakMiB = Math.max(peakMiB, service.memoryMiB());
  }

  const answered = connections.map((connection) => connection.statuses());
  const served = answered.filter(([status]) => status === 200).length;
  console.info(`${served} of ${requests} answered, ${statuses.length} of others, ${Math.round(peakMiB)} MiB`);
  const wrong = statuses.filter((status) => status !== 200);
  report({ faults: requests, requests: statuses.length, wrong: wrong.length });
  expect(wrong).toEqual([]);
  expect(served).toBeGreaterThan(0);
  expect(answered.filter(([status]) => status !== 200 && status !== 503)).toEqual([]);
});

describe('an export', async () => {
  const path = '/api/me/export';
  /** enough readers to hold every connection that an export could keep */
  const connections = 4;
  const env = { RATE_LIMIT_EXPORT: 'off', DATABASE_POOL_SIZE: String(connections) };
  const { installation, server } = await closeAfterAll(Storage.on('mariadb'));
  let instance = await startInstance(installation, env);
  await closeAfterAll({ close: () => instance.stop() });
  let reader: Account = await anAccount(instance, 'reader');
  const oldest = await addLongHistory(installation, reader.id);

  const halfRead = (): Promise<PausedReader[]> =>
    Promise.all(times(connections, () => PausedReader.get(instance, path, reader)));

  async function expectWholeAgain(): Promise<void> {
    const isServed = async () => (await reader.get('/api/me')).status === 200;
    await waitFor('the service answers', hangTimeoutMs(), isServed);
    const { status, text } = await reader.get(path);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ account: { id: reader.id } });
    expect(text.includes(oldest), 'reaches the oldest event').toBe(true);
  }

  it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ['the database is gone', () => server.kill(), () => server.restart()],
    [
      'the instance is killed',
      () => instance.kill(),
      async () => {
        instance = await startInstance(installation, env);
        reader = reader.at(instance);
      },
    ],
  ])('during which %s is cut off, and looks so', async (_what, cut, mend) => {
    const streams = await halfRead();
    await cut();
    for (const { text, whole } of await Promise.all(streams.map((stream) => stream.readOn()))) {
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
      expect([whole, text.includes(oldest)]).toEqual([false, false]);
    }
    await mend();
    await expectWholeAgain();
    report({ faults: 1, requests: connections + 1, wrong: 0 });
  });

  it('whose client leaves keeps no connection of the database', async () => {
    for (let round = 0; round < 2; round += 1) {
      for (const stream of await halfRead()) stream.leave();
    }
    await expectWholeAgain();
    report({ faults: 2 * connections, requests: 2 * connections + 1, wrong: 0 });
  });
});
