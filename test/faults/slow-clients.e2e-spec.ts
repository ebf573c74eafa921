import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hangTimeoutMs, within } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { loadDuring } from '../support/load.js';
import { addOrgs } from '../support/many-orgs.js';
import { keptAliveRequest, openConnection } from '../support/open-connection.js';
import { type Account, anAccount } from '../support/personas.js';
import {
  closeAfterTest,
  PASSWORD,
  register,
  startInstance,
  startOn,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { report } from './support/figures.js';

const MAX_MS = 20_000;
const BYTE_EACH_MS = 1000;

interface Ended {
  afterMs: number;
  /** the first line of the answer, or nothing */
  answer: string;
}

/** Sends `head` at once and then one byte a second for ever; resolves when the service ends the connection. */
function slowConnection(port: number, head: string, byte: string): Promise<Ended> {
  return new Promise((resolve) => {
    const since = performance.now();
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    const drip = setInterval(() => socket.writable && socket.write(byte), BYTE_EACH_MS);
    // Given up after this, so that a service that never closes fails the test instead of holding it.
    const limit = setTimeout(() => socket.destroy(), MAX_MS * 2);
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearInterval(drip);
      clearTimeout(limit);
      resolve({ afterMs: performance.now() - since, answer: answer.split('\r\n')[0] ?? '' });
    });
  });
}

it('200 slow clients are disconnected within 20 s while others are served', async () => {
  const { service, send } = await startOn('sqlite');
  const { email, token } = await register(send);
  const port = Number(new URL(service.url).port);
  const head = 'POST /api/auth/login HTTP/1.1\r\nHost: x\r\n';
  const body = `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
  const ended: Record<string, Ended[]> = {};
  const history = await loadDuring(
    3,
    async (worker) => {
      await sleep(50);
      const { status } =
        worker === 0
          ? await send('POST', '/api/auth/login', { body: { email, password: PASSWORD } })
          : await send('GET', '/api/me', { token });
      return { outcome: status === 200 ? 'ok' : 'refused', label: String(status) };
    },
    async () => {
      const slow = (sent: string, byte: string) =>
        Promise.all(times(100, () => slowConnection(port, sent, byte)));
      const heads = slow(`${head}X-Slow: `, 'x');
      Object.assign(ended, { bodies: await slow(body, ' '), heads: await heads });
    },
  );

  for (const [what, connections] of Object.entries(ended)) {
    const answers = [...new Set(connections.map(({ answer }) => answer))];
    const longestMs = Math.max(...connections.map(({ afterMs }) => afterMs));
    console.info(`slow ${what}:`, answers.join(' | ') || 'closed', `after ${Math.round(longestMs)} ms`);
    expect(answers.filter((answer) => answer !== '' && !answer.startsWith('HTTP/1.1 408'))).toEqual([]);
    expect(longestMs, `slow ${what}`).toBeLessThan(MAX_MS);
  }
  expect([...history.tally().keys()], 'other requests').toEqual(['ok 200']);
  const longestAnswerMs = Math.round(Math.max(...history.durations())) - 50;
  report({ faults: 200, requests: history.entries.length, wrong: 0, longestAnswerMs });
});

const ORGS = 5000;
/** 90 characters of four bytes each */
const NAME = '\u{1F600}'.repeat(90);
const CONNECTIONS = 30;
const SENT_AHEAD = 20;
/** of the heap, as Node chooses it in 512 MiB */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };

it('serves others while clients send requests for long answers ahead and read none', async () => {
  const { installation } = await closeAfterTest(Storage.on('sqlite'));
  const service = await closeAfterTest(startInstance(installation, { ...UNLIMITED, ...SMALL_HEAP }));
  const [greedy, other] = await Promise.all([anAccount(service), anAccount(service)]);
  await addOrgs(installation.db, greedy, ORGS, () => NAME);

  const connections = await Promise.all(times(CONNECTIONS, () => unread(service.url, greedy)));
  const cut = () => service.logs.filter((line) => line.includes('read nothing of its answer')).length;
  const statuses: number[] = [];
  let peakMiB = 0;
  const served = async (): Promise<void> => {
    do {
      statuses.push((await other.get('/api/me')).status);
      peakMiB = Math.max(peakMiB, service.memoryMiB());
    } while (statuses.at(-1) === 200 && cut() < CONNECTIONS);
  };
  await within('the service cuts all of them off', hangTimeoutMs(), served());
  for (const close of connections) close();

  console.info(`${statuses.length} requests of others, at most ${Math.round(peakMiB)} MiB`);
  const wrong = statuses.filter((status) => status !== 200);
  report({ faults: CONNECTIONS, requests: statuses.length, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

/** @returns what ends the connection */
async function unread(url: string, { token }: Account): Promise<() => void> {
  const { socket } = await openConnection(url);
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(keptAliveRequest('GET /api/me', [`Authorization: Bearer ${token}`]).repeat(SENT_AHEAD));
  return () => socket.destroy();
}
