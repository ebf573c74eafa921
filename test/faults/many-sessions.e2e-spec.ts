import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { percentile } from '../../tooling/percentile.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { History, loadDuring, loadUntil } from '../support/load.js';
import { type Account, anAccount } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { ENGINES, startInstance, Storage } from './support/deployment.js';

const ENDED = 50_000;
const ROWS_AT_ONCE = 2000;
const MAX_LIVE = 1000;
const OPENED = 3 * MAX_LIVE;
const LOOPS = 8;
const DELEGATED = 4000;
const MAX_ROWS = 1500;
const CODE_TTL_S = 15;
const A_MINUTE_MS = 60_000;
const OTHERS = 4;
const ALONE_MS = 4000;
const NO_LIMITS = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off', CODE_TTL: `${CODE_TTL_S}s` };
/** Of medians and percentiles on a busy machine. Without an index or batches they were a hundred times as long. */
const MAX_RATIO = 10;

describe.each(ENGINES)('a user with many ended sessions on %s', (engine) => {
  let storage: Storage;
  let service: Instance;
  let others: Account[];

  beforeAll(async () => {
    storage = await Storage.on(engine);
    service = await startInstance(storage.installation, NO_LIMITS);
    others = await Promise.all(times(OTHERS, () => anAccount(service, 'other')));
  });
  afterAll(async () => {
    await service.stop();
    await storage.close();
  });

  async function countOf(table: 'sessions' | 'users', { id }: Account): Promise<number> {
    const column = table === 'users' ? 'id' : 'user_id';
    const sql = `SELECT COUNT(*) AS found FROM ${table} WHERE ${column} = ?`;
    return Number((await service.db.query(sql, [id]))[0]!['found']);
  }

  /** As codes opened them, and as they were logged out. */
  async function withEndedSessions(): Promise<Account> {
    const ada = await anAccount(service, 'ada');
    const [login] = await service.db.query('SELECT id FROM sessions WHERE user_id = ?', [ada.id]);
    const now = Date.now();
    for (let done = 0; done < ENDED; done += ROWS_AT_ONCE) {
      const rows = times(ROWS_AT_ONCE, () => {
        const id = randomUUIDv7();
        return [id, ada.id, now, now, now + 86_400_000, now, login!['id'] as string, id, id];
      });
      await service.db.query(
        `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, revoked_at, login_id, branch_id, code_hash)
          VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join()}`,
        rows.flat(),
      );
    }
    return ada;
  }

  async function medianOf(count: number, request: () => Promise<{ status: number }>): Promise<number> {
    const waits: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const began = performance.now();
      expect((await request()).status).toBe(200);
      waits.push(performance.now() - began);
    }
    return percentile(waits, 0.5);
  }

  const ask = async (worker: number) => {
    const { status } = await others[worker % OTHERS]!.get('/api/me');
    return { outcome: status === 200 ? 'ok' : 'refused', label: String(status) } as const;
  };

  it('lists the live ones, and rehearses the deletion, as fast as for a user with one', async () => {
    const [ada, grace] = [await withEndedSessions(), await anAccount(service, 'grace')];
    const list = (who: Account) => medianOf(50, () => who.get('/api/me/sessions'));
    const rehearse = (who: Account) =>
      medianOf(5, () => who.delete('/api/me?dryRun=true', { password: who.password }));
    await list(grace);

    const [one, many] = [await list(grace), await list(ada)];
    const [dryOne, dryMany] = [await rehearse(grace), await rehearse(ada)];

    console.info({ one, many, dryOne, dryMany });
    expect(await countOf('sessions', ada)).toBe(ENDED + 1);
    expect([many / one, dryMany / dryOne].map((ratio) => ratio < MAX_RATIO)).toEqual([true, true]);
    report({ requests: 160, wrong: 0, longestAnswerMs: Math.round(dryMany) });
  });

  it('is deleted in batches beside which everybody else is answered', async () => {
    const ada = await withEndedSessions();
    const alone = await loadUntil(AbortSignal.timeout(ALONE_MS), OTHERS, ask);

    const began = performance.now();
    const beside = await loadDuring(OTHERS, ask, async () => {
      // The deadline may answer 503 first: the deletion continues.
      const { status } = await ada.delete('/api/me', { password: ada.password });
      expect([200, 503]).toContain(status);
      await waitFor(
        'the account is gone',
        3 * hangTimeoutMs(),
        async () => (await countOf('users', ada)) === 0,
      );
    });
    const tookMs = Math.round(performance.now() - began);

    const [before, during] = [alone, beside].map((history) => percentile(history.durations(), 0.99));
    const longestAnswerMs = Math.round(Math.max(...beside.durations()));
    console.info({ tookMs, p99Alone: before, p99Beside: during, longestAnswerMs });
    expect([...beside.tally().keys()]).toEqual(['ok 200']);
    expect(await countOf('sessions', ada)).toBe(0);
    expect(during! / before!).toBeLessThan(MAX_RATIO);
    report({ requests: beside.entries.length, wrong: 0, longestAnswerMs });
  });

  it.each([
    ['its login', 1],
    ['its login and of delegated sessions', 4],
  ])(
    'has at most 1,500 rows of 4,000 that codes of %s opened, 1,000 of them live, a minute after the codes end',
    async (_whose, perBranch) => {
      const ada = await anAccount(service, 'ada');
      const open = async (by: Account): Promise<Account> => {
        const { body: code } = await by.post('/api/auth/code');
        const { body } = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', code);
        return by.as(body.token);
      };
      const began = performance.now();
      for (let opened = 0; opened < DELEGATED; opened += LOOPS * perBranch) {
        await Promise.all(
          times(LOOPS, async () => {
            const head = await open(ada);
            for (let more = 1; more < perBranch; more += 1) await open(head);
          }),
        );
      }
      const tookMs = Math.round(performance.now() - began);
      const most = await countOf('sessions', ada);
      await sleep(CODE_TTL_S * 1000);

      const ended = performance.now();
      const live = async (): Promise<number> =>
        (await ada.get<{ sessions: unknown[] }>('/api/me/sessions')).body.sessions.length;
      await waitFor(
        'few rows are left',
        A_MINUTE_MS,
        async () => (await countOf('sessions', ada)) <= MAX_ROWS && (await live()) <= MAX_LIVE,
      );
      const waitedMs = Math.round(performance.now() - ended);
      console.info({ tookMs, most, waitedMs });
      expect(await live()).toBeGreaterThan(MAX_LIVE - LOOPS);
      report({ requests: 2 * DELEGATED, wrong: 0 });
    },
  );

  it('does not get them by opening and ending sessions without pause', async () => {
    const ada = await anAccount(service, 'ada');
    const history = new History();
    const codes: string[] = [];
    const end = new AbortController();
    await loadUntil(
      end.signal,
      LOOPS,
      async () => {
        const { body } = await ada.post<{ code: string }>('/api/auth/code');
        if (codes.push(body.code) >= OPENED) end.abort();
        const opened = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', body);
        const { status } = await ada.as(opened.body.token).post('/api/auth/logout');
        return { outcome: status === 200 ? 'ok' : 'refused', label: String(status) };
      },
      history,
    );
    const most = await countOf('sessions', ada);
    await waitFor('ended sessions are deleted', hangTimeoutMs(), async () => {
      return (await countOf('sessions', ada)) <= MAX_LIVE;
    });

    for (const code of codes.slice(-50)) {
      expect((await service.anyone.post('/api/auth/code/exchange', { code })).status).toBe(400);
    }
    console.info({ opened: history.entries.length, most });
    expect([...history.tally().keys()]).toEqual(['ok 200']);
    report({ requests: 3 * history.entries.length, wrong: 0 });
  });
});
