import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { percentile } from '../../tooling/percentile.js';
import { residentMib } from '../../tooling/processes/usage.js';
import { hangTimeoutMs } from '../../tooling/wait.js';
import type { Environment } from '../support/service-process.js';
import { type Answer, History, loadDuring, loadUntil } from '../support/load.js';
import { report } from './support/figures.js';
import { RestartableService, UNLIMITED } from './support/restartable-service.js';
import { asString, clientOf, type Send } from '../support/service-client.js';
import { Storage } from './support/storage.js';
import { PASSWORD } from './support/writer.js';

/** More than the service hashes and queues. */
const CLIENTS = 300;
const PAUSE_MS = 500;
const FLOOD_MS = 12_000;
/** Enough of them that limits are met, and that requests within the limits remain. */
const ACCOUNTS = 60;
/** The heap grows to its working size, then no further. */
const MAX_GROWTH_MIB = 200;
const MAX_LATER_GROWTH_MIB = 50;
const HASH_COST = { ARGON2_MEMORY_KIB: '19456', ARGON2_TIME: '2' };

let storage: Storage;
let service: RestartableService;

afterEach(async () => {
  await service.kill();
  await storage.close();
});

function wrongLogin(send: Send, missingRetryAfter: string[]) {
  return async (worker: number, turn: number): Promise<Answer> => {
    const email = `flood${(worker + turn * CLIENTS) % ACCOUNTS}@example.com`;
    const { status, code, retryAfter } = await send('POST', '/api/auth/login', {
      body: { email, password: 'a wrong password' },
    });
    if (status !== 401 && retryAfter === null) missingRetryAfter.push(`${status} ${code}`);
    // Hundreds a second: without it this process would be busier than the service.
    if (status !== 401) await sleep(PAUSE_MS);
    return { outcome: 'refused', label: String(status) };
  };
}

describe.each<{ limits: string; env: Environment; answers: string[]; refusal: string }>([
  { limits: 'off', env: UNLIMITED, answers: ['401', '503'], refusal: '503' },
  { limits: 'on', env: { RATE_LIMIT_REGISTER: 'off' }, answers: ['401', '429', '503'], refusal: '429' },
])('a flood of wrong passwords, rate limits $limits', ({ limits, env, answers, refusal }) => {
  it('leaves GET /api/me responsive and memory constant', async () => {
    storage = await Storage.on('mariadb');
    service = await RestartableService.on(storage, { ...env, ...HASH_COST });
    await service.start();
    const send = clientOf(service.url);
    const body = { email: 'me@example.com', password: PASSWORD };
    const token = asString((await send('POST', '/api/auth/register', { body })).body['token']);

    const missingRetryAfter: string[] = [];
    const before = residentMib([service.pid])!;
    const rss: number[] = [];
    const me = new History();
    const flood = await loadDuring(CLIENTS, wrongLogin(send, missingRetryAfter), async (attempts) => {
      const over = new AbortController();
      // On a busy machine it takes longer until it is a flood.
      const isOver = (): boolean =>
        attempts.now() > hangTimeoutMs() ||
        (attempts.now() > FLOOD_MS && attempts.entries.some(({ label }) => label === refusal));
      const ask = async (): Promise<Answer> => {
        const { status } = await send('GET', '/api/me', { token });
        await sleep(20);
        return { outcome: status === 200 ? 'ok' : 'refused', label: String(status) };
      };
      const asking = loadUntil(over.signal, 2, ask, me);
      while (!isOver()) {
        rss.push(residentMib([service.pid])!);
        await sleep(100);
      }
      over.abort();
      await asking;
    });

    const half = Math.floor(rss.length / 2);
    const growth = Math.max(...rss) - before;
    const laterGrowth = Math.max(...rss.slice(half)) - Math.max(...rss.slice(0, half));
    const logins = Object.fromEntries(
      [...flood.tally()].map(([label, times]) => [label.split(' ')[1], times]),
    );
    const waits = me.durations().map((ms) => ms - 20);
    console.info(`limits ${limits}`, logins, {
      perSecond: Math.round(flood.entries.length / (flood.now() / 1000)),
      me: me.entries.length,
      p50: Math.round(percentile(waits, 0.5)),
      p99: Math.round(percentile(waits, 0.99)),
      growthMiB: Math.round(growth),
      growthInSecondHalfMiB: Math.round(laterGrowth),
    });
    expect([...me.tally().keys()], 'GET /api/me').toEqual(['ok 200']);
    expect(Object.keys(logins).filter((label) => !answers.includes(label))).toEqual([]);
    expect(missingRetryAfter).toEqual([]);
    expect(logins[refusal], 'else it was no flood').toBeGreaterThan(0);
    expect(growth).toBeLessThan(MAX_GROWTH_MIB);
    expect(laterGrowth).toBeLessThan(MAX_LATER_GROWTH_MIB);
    report({
      requests: flood.entries.length + me.entries.length,
      wrong: 0,
      longestAnswerMs: Math.round(percentile(waits, 1)),
    });
  });
});
