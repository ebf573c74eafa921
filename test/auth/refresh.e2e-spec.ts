import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { invalidRefreshToken, invalidToken } from '../support/expected.js';
import { type Account, anAccount, byCode, isAlive, logIn } from '../support/personas.js';
import { type RefreshRow, rowsOf } from '../support/refresh-table.js';
import {
  aRefreshableLogin,
  partsOf,
  refresh,
  refreshed,
  type Tokens,
  untilUsed,
  use,
} from '../support/refreshing.js';
import { jsonRequest, openConnection } from '../support/connections.js';
import type { Row } from '../support/database.js';
import {
  type Instance,
  NO_LIMITS,
  type Service,
  startOwnService,
  startSharedCluster,
} from '../support/service.js';
import { answerAfter, type HeldRows, holdRows } from '../support/held-rows.js';
import { engine, roundsOfARace } from '../support/engine.js';
import { aServiceCaller } from '../support/services.js';
import { decodeToken, signToken } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const HOUR_MS = 3_600_000;
const IDLE_MS = 14 * 86_400_000;
const WINDOWS = 50;
const ROUNDS = roundsOfARace(10);
const EIGHT_HOURS_MS = 8 * HOUR_MS;

const NO_MARKS = {
  sqlite: `CREATE TRIGGER no_marks BEFORE UPDATE OF seen_generation ON sessions
    BEGIN SELECT RAISE(ABORT, 'no marks'); END`,
  mariadb: `CREATE TRIGGER no_marks BEFORE UPDATE ON sessions FOR EACH ROW
    IF NEW.seen_generation <> OLD.seen_generation THEN SIGNAL SQLSTATE '45000'; END IF`,
};

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
    // The lost answer contained a replaced token, which is rejected after the grace.
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

const shop = await aServiceCaller(service, 'introspect');
const inspect = (token: string) => shop.introspect({ token });

describe('the successor of a refresh token is used', () => {
  let login: Tokens;
  let next: Tokens;

  beforeEach(async () => {
    login = await aRefreshableLogin(service, ada);
    next = await refreshed(service, login.refreshToken);
  });

  it.each<[string, () => Promise<Answer>, number]>([
    ['by a request', () => ada.as(next.token).get('/api/me'), 200],
    ['by a request that is refused', () => ada.as(next.token).get('/api/operators/users'), 403],
    ['by an introspection', () => inspect(next.token), 200],
  ])('%s, and its previous token works for the grace only', async (_what, send, status) => {
    await later(login, HOUR_MS);
    expect(await send()).toMatchObject({ status });
    await untilUsed(service, next.refreshToken);
    const again = await refreshed(service, login.refreshToken);
    expect(generationOf(again)).toBe(2);
    await later(login, HOUR_MS);
    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await isAlive(ada.as(next.token))).toBe(false);
  });

  it('by a refresh, and an older token ends the session at once', async () => {
    await refreshed(service, next.refreshToken);
    expect(await refresh(service, login.refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await eventsOf(login)).toHaveLength(1);
  });

  it('and its previous access token still works and changes nothing', async () => {
    await use(service, next);
    const before = await sessionOf(login);
    expect(await isAlive(ada.as(login.token))).toBe(true);
    expect(await sessionOf(login)).toEqual(before);
  });

  it('only if it is the last one: a late use of an older token is no use', async () => {
    const third = await refreshed(service, next.refreshToken);
    expect(await isAlive(ada.as(next.token))).toBe(true);
    await use(service, third);
    expect(await sessionOf(login)).toMatchObject({ refresh_generation: 3, seen_generation: 3 });
  });

  it('but not if it was replaced: its access token is refused, also by introspection', async () => {
    await later(login, HOUR_MS);
    const other = await refreshed(service, login.refreshToken);
    expect(await ada.as(next.token).get('/api/me')).toMatchObject(invalidToken);
    expect((await inspect(next.token)).body).toEqual({ active: false });
    expect((await inspect(other.token)).body).toMatchObject({ active: true, sub: ada.id });
    await untilUsed(service, other.refreshToken);
    expect(await isAlive(ada.as(login.token))).toBe(true);
    expect(await eventsOf(login)).toEqual([]);
  });

  it('while it is refreshed: no request waits for the note, and a late note marks no successor', async () => {
    const held = await holdRows(service);
    const sql = 'UPDATE sessions SET refresh_generation = 3, rotated_at = rotated_at - ? WHERE id = ?';
    await held.write(sql, [HOUR_MS, idOf(login)]);
    expect(await isAlive(ada.as(next.token))).toBe(true);
    await held.untilOneWaits();
    await held.commit();
    expect(generationOf(await refreshed(service, next.refreshToken))).toBe(4);
  });

  it.each([['2'], [1.5], [0], [-1], [null], [{}]])(
    'by no token whose claim is no generation: %j',
    async (gen) => {
      await later(login, HOUR_MS);
      await refreshed(service, login.refreshToken);
      const { header, claims } = decodeToken(next.token);
      const token = signToken(header, { ...claims, gen }, service.installation.keys[0]!);
      expect(await isAlive(ada.as(token))).toBe(true);
    },
  );

  it('also while the database refuses to note it, and the next use is noted', async () => {
    const own = await startOwnService();
    const eve = await anAccount(own, 'eve');
    const first = await aRefreshableLogin(own, eve);
    const second = await refreshed(own, first.refreshToken);
    await own.db.query(NO_MARKS[engine]);
    expect(await isAlive(eve.as(second.token))).toBe(true);
    expect(await isAlive(eve.as(second.token))).toBe(true);
    await own.db.query('DROP TRIGGER no_marks');
    await use(own, second);
    await own.stop();
  });

  it('is known by a claim of logins with refresh tokens only, which introspection leaves out', async () => {
    const plain = (await logIn(service, ada)).body;
    const delegated = await byCode(service, ada.as(next.token));
    const claims = [login.token, next.token, plain.token, delegated.token].map(
      (token) => decodeToken(token).claims['gen'],
    );
    expect(claims).toEqual([1, 2, undefined, undefined]);
    const { gen, ...others } = decodeToken(next.token).claims;
    expect(gen).toBe(2);
    const { body } = await inspect(next.token);
    expect(body).toMatchObject({ ...others, active: true });
    expect(body).not.toHaveProperty('gen');
  });
});

describe('a refresh whose session changes between its read and its write', () => {
  it.each<[string, string, number, number]>([
    ['a first use', 'seen_generation = 2, rotated_at = ?', 0, 2],
    ['another re-issue', 'refresh_generation = 3, reissues = 1, rotated_at = ?', 0, 3],
    ['another re-issue long ago', 'refresh_generation = 3, reissues = 1, rotated_at = ?', HOUR_MS, 4],
  ])('decides again: %s', async (_what, written, agoMs, generation) => {
    const { answer } = await refreshDuring(written, Date.now() - agoMs);
    expect(answer.status, answer.text).toBe(200);
    expect(generationOf(answer.body)).toBe(generation);
  });

  it.each<[string, string, unknown[]]>([
    [
      'a first use long ago',
      'seen_generation = 2, rotated_at = ?',
      [{ data: '{"reason":"refresh_reused"}' }],
    ],
    ['a logout', 'revoked_at = ?', []],
  ])('is refused after %s', async (_what, written, events) => {
    const { login, answer } = await refreshDuring(written, 1);
    expect(answer).toMatchObject(invalidRefreshToken);
    expect(await eventsOf(login)).toEqual(events);
  });

  async function refreshDuring(written: string, value: number) {
    const login = await aRefreshableLogin(service, ada);
    await refreshed(service, login.refreshToken);
    await later(login, HOUR_MS);
    const sql = `UPDATE sessions SET ${written} WHERE id = ?`;
    const write = (held: HeldRows) => held.write(sql, [value, idOf(login)]);
    const answer = await answerAfter(service, write, () => refresh(service, login.refreshToken));
    return { login, answer: answer as Answer<Tokens> };
  }
});

/** What a frozen instance finds when it wakes: a request whose client has given up. */
describe('an instance that was frozen', () => {
  const FROZEN = 10;
  let frozen: Instance;
  let eve: Account;

  beforeAll(async () => {
    frozen = await startOwnService({ env: NO_LIMITS });
    eve = await anAccount(frozen, 'eve');
  });
  afterAll(() => frozen.stop());

  /** The client sends the refresh, and closes its connection before the instance wakes. */
  async function refreshInVain({ refreshToken }: Tokens, id: string): Promise<void> {
    process.kill(frozen.pid, 'SIGSTOP');
    const { socket } = await openConnection(frozen.url);
    const sent = jsonRequest('POST /api/auth/refresh', { refreshToken }, [`X-Request-Id: ${id}`]);
    await new Promise<void>((done) => socket.end(sent, done));
    process.kill(frozen.pid, 'SIGCONT');
    const isLogged = (): boolean => frozen.logs.some((line) => line.includes(id));
    await waitFor('the request is in the log', hangTimeoutMs(), isLogged);
  }

  it('changes nothing for a client that has gone', async () => {
    for (const round of times(FROZEN, (index) => index)) {
      const login = await aRefreshableLogin(frozen, eve);
      const before = await sessionOf(login, frozen);
      await refreshInVain(login, `rotates-${round}`);
      expect(await sessionOf(login, frozen)).toEqual(before);
    }
  });

  it('ends no session whose client has refreshed elsewhere meanwhile', async () => {
    for (const round of times(FROZEN, (index) => index)) {
      const login = await aRefreshableLogin(frozen, eve);
      const next = await refreshed(frozen, login.refreshToken);
      await use(frozen, next);
      await change(login, 'rotated_at = rotated_at - ?', [HOUR_MS], frozen);
      await refreshInVain(login, `reuses-${round}`);
      expect(await eventsOf(login, frozen)).toEqual([]);
      expect(await isAlive(eve.as(next.token))).toBe(true);
    }
  });
});
