import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { invalidRefreshToken } from '../support/expected.js';
import { type Account, anAccount, isAlive } from '../support/personas.js';
import { type RefreshRow, rowsOf } from '../support/refresh-table.js';
import { aRefreshableLogin, partsOf, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import type { Row } from '../support/database.js';
import {
  type Instance,
  NO_LIMITS,
  type Service,
  startOwnService,
  startSharedCluster,
} from '../support/service.js';
import { roundsOfARace } from '../support/engine.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const HOUR_MS = 3_600_000;
const IDLE_MS = 14 * 86_400_000;
const WINDOWS = 50;
const ROUNDS = roundsOfARace(10);
const EIGHT_HOURS_MS = 8 * HOUR_MS;

const shared = await startSharedCluster();
const service = shared.instances[0]!;

const on = (place: number): Service => shared.instances[place % shared.instances.length]!;
const idOf = ({ refreshToken }: Pick<Tokens, 'refreshToken'>): string => partsOf(refreshToken).sessionId;
const generationOf = ({ refreshToken }: Pick<Tokens, 'refreshToken'>): number =>
  partsOf(refreshToken).generation;

async function sessionOf(tokens: Tokens, by: Service = service): Promise<Row> {
  const [found] = await by.db.query('SELECT * FROM sessions WHERE id = ?', [idOf(tokens)]);
  return found!;
}

const change = (tokens: Tokens, what: string, values: (number | null)[] = [], by: Service = service) =>
  by.db.query(`UPDATE sessions SET ${what} WHERE id = ?`, [...values, idOf(tokens)]);

const later = (tokens: Tokens, ms: number) => change(tokens, 'rotated_at = rotated_at - ?', [ms]);

async function eventsOf(tokens: Tokens, by: Service = service): Promise<Row[]> {
  const sql = "SELECT data FROM events WHERE type = 'session.ended' AND session_id = ?";
  return by.db.query(sql, [idOf(tokens)]);
}

async function loggedLine(tokens: Tokens, text: string, by: Service = service): Promise<unknown> {
  const isIt = (line: string): boolean => line.includes(text) && line.includes(idOf(tokens));
  await waitFor(`the log says: ${text}`, hangTimeoutMs(), () => by.logs.some(isIt));
  return JSON.parse(by.logs.find(isIt)!);
}

let ada: Account;
beforeEach(async () => {
  ada = await anAccount(service, 'ada');
});

describe('each row of the table:', () => {
  const MAX_ISSUED = 6;
  let withoutGrace: Instance;
  let accounts: Map<Service, Account>;

  beforeAll(async () => {
    withoutGrace = await startOwnService({ env: { ...NO_LIMITS, REFRESH_GRACE: '0s' } });
    const of = async (one: Service) => [one, await anAccount(one, 'eve')] as const;
    accounts = new Map(await Promise.all([service, withoutGrace].map(of)));
  });
  afterAll(() => withoutGrace.stop());

  /** Returns the tokens of the first six generations, by their number. */
  async function inRow({ state }: RefreshRow, by: Service): Promise<Tokens[]> {
    const issued = [await aRefreshableLogin(by, accounts.get(by)!)];
    while (issued.length < MAX_ISSUED) issued.push(await refreshed(by, issued.at(-1)!.refreshToken));
    const { refreshGeneration, reissues, seenGeneration, rotatedForMs } = state;
    await change(
      issued[0]!,
      'refresh_generation = ?, reissues = ?, seen_generation = ?, rotated_at = rotated_at - ?, expires_at = ?',
      [refreshGeneration, reissues, seenGeneration, rotatedForMs, Date.now() + HOUR_MS],
      by,
    );
    return [issued[0]!, ...issued];
  }

  async function show(row: RefreshRow) {
    const by = row.graceMs === 0 ? withoutGrace : service;
    const tokens = await inRow(row, by);
    const login = tokens[1]!;
    const before = await sessionOf(login, by);
    const answer = await refresh(by, tokens[row.shown]!.refreshToken);
    return {
      by,
      login,
      before,
      answer,
      after: await sessionOf(login, by),
      events: await eventsOf(login, by),
    };
  }

  it.each(rowsOf('rotate', 'reissue'))('$name ($shown) gets tokens of a new generation', async (row) => {
    const { before, answer, after, events } = await show(row);
    expect(answer.status, answer.text).toBe(200);
    const { refreshGeneration, reissues } = row.decision;
    expect(generationOf(answer.body)).toBe(refreshGeneration);
    const { rotated_at, expires_at } = after;
    const changed = { refresh_generation: refreshGeneration, reissues, rotated_at, expires_at };
    expect(after).toEqual({ ...before, ...changed });
    expect(rotated_at).not.toBe(before['rotated_at']);
    expect(Number(expires_at)).toBeGreaterThan(Number(before['expires_at']));
    expect(events).toEqual([]);
  });

  it.each(rowsOf('reissue'))('$name ($shown) is in the log', async (row) => {
    const { login } = await show(row);
    expect(await loggedLine(login, 'refresh token accepted again')).toMatchObject({ level: 30 });
  });

  it.each(rowsOf('repeat'))('$name ($shown) gets tokens of the last generation', async (row) => {
    const { before, answer, after, events } = await show(row);
    expect(answer.status, answer.text).toBe(200);
    expect(generationOf(answer.body)).toBe(row.state.refreshGeneration);
    expect(after).toEqual(before);
    expect(events).toEqual([]);
  });

  it.each(rowsOf('reused'))('$name ($shown) ends the session', async (row) => {
    const { by, login, before, answer, after, events } = await show(row);
    expect(answer).toMatchObject(invalidRefreshToken);
    expect(after).toEqual({ ...before, revoked_at: expect.any(Number) });
    expect(events).toEqual([{ data: '{"reason":"refresh_reused"}' }]);
    expect(await loggedLine(login, 'refresh token reused', by)).toMatchObject({ level: 40 });
  });

  it.each(rowsOf('newer'))('$name ($shown) is refused and ends nothing', async (row) => {
    const { login, before, answer, after, events } = await show(row);
    expect(answer).toMatchObject(invalidRefreshToken);
    expect(after).toEqual(before);
    expect(events).toEqual([]);
    expect(await loggedLine(login, 'refresh token newer than its session')).toMatchObject({ level: 50 });
  });
});

describe('a refresh whose answer is lost', () => {
  let login: Tokens;
  beforeEach(async () => {
    login = await aRefreshableLogin(service, ada);
  });

  it('three times in a row is made again, and every answer replaces the one before', async () => {
    const lost: Tokens[] = [];
    for (const _ of times(3, () => 0)) {
      lost.push(await refreshed(service, login.refreshToken));
      await later(login, HOUR_MS);
    }
    const next = await refreshed(service, login.refreshToken);
    expect([...lost, next].map(generationOf)).toEqual([2, 3, 4, 5]);
    expect(await isAlive(ada.as(next.token))).toBe(true);
    expect(generationOf(await refreshed(service, next.refreshToken))).toBe(6);
    expect(await eventsOf(login)).toEqual([]);
  });

  it('is made again eight hours later', async () => {
    const lost = await refreshed(service, login.refreshToken);
    await later(login, EIGHT_HOURS_MS);
    const next = await refreshed(service, login.refreshToken);
    expect(await isAlive(ada.as(next.token))).toBe(true);
    // Whoever has the lost answer shows a replaced token after the grace.
    await later(login, HOUR_MS);
    expect(await refresh(service, lost.refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await isAlive(ada.as(next.token))).toBe(false);
    expect(await eventsOf(login)).toHaveLength(1);
  });

  it('restarts the idle time when it is made again', async () => {
    await refreshed(service, login.refreshToken);
    await later(login, HOUR_MS);
    const before = Date.now();
    await change(login, 'expires_at = ?', [before + HOUR_MS]);
    await refreshed(service, login.refreshToken);
    const { expires_at: end } = await sessionOf(login);
    expect(Number(end)).toBeGreaterThanOrEqual(before + IDLE_MS);
    expect(Number(end)).toBeLessThanOrEqual(Date.now() + IDLE_MS);
  });

  it('gets one new generation from 50 windows at once after the grace', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      await refreshed(on(round), login.refreshToken);
      await later(login, HOUR_MS);
      const { refresh_generation: issued } = await sessionOf(login);
      const answers = await atOnce(times(WINDOWS, (place) => () => refresh(on(place), login.refreshToken)));
      expect(answers.map(({ status }) => status)).toEqual(times(WINDOWS, () => 200));
      const generations = answers.map(({ body }) => generationOf(body));
      expect(new Set(generations)).toEqual(new Set([Number(issued) + 1]));
      expect(await sessionOf(login)).toMatchObject({ revoked_at: null, refresh_generation: generations[0] });
      const uses = answers.map(({ body }, place) => isAlive(ada.as(body.token).at(on(place + 1))));
      expect(await Promise.all(uses)).toEqual(times(WINDOWS, () => true));
      login = answers[round % WINDOWS]!.body;
    }
  });
});
