import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import {
  jsonRequest,
  keptAliveRequest,
  openConnection,
  requestBytes,
  sendBytes,
} from '../support/connections.js';
import {
  type Account,
  aCode,
  anAccount,
  anEmail,
  anOrg,
  anUnknownId,
  aPassword,
  exchange,
} from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed } from '../support/refreshing.js';
import { aChallenge, protect, secondStep } from '../support/second-factor.js';
import { aServiceCaller } from '../support/services.js';
import { startService } from '../support/service.js';
import { decodeToken, signToken } from '../support/signing-keys.js';

type Line = Record<string, unknown> & { level: number; time: string; msg: string; requestId: string } & {
  status: number;
  route?: string;
  reason?: string;
};

const INFO = 30;
const DEBUG = 20;
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

const service = await startService({
  env: {
    LOG_LEVEL: 'trace',
    RATE_LIMIT_REGISTER: 'off',
    // A hash takes ten milliseconds and more, so that the service sees the client leave before it has the answer. With one
    // that takes half a second, as it may on a busy machine, the queue refuses requests before it sees anybody leave.
    ARGON2_MEMORY_KIB: '19456',
  },
});
afterAll(() => service.stop());

let begin: number;
beforeEach(() => {
  begin = service.logs.length;
});

/** The lines of the requests of this test; its own reading of the API's description is left out. */
const lines = (): Line[] =>
  service.logs
    .slice(begin)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg, route }) => msg === 'request' && route !== '/openapi.json');

/** The line of the last request with that route, or without one, once it is there. */
const lineOf = (route: string | undefined): Promise<Line> =>
  waitFor(`the line of ${route}`, hangTimeoutMs(), () => lines().findLast((line) => line.route === route));

const lineFor = ({ headers }: { headers: Headers }): Promise<Line> =>
  waitFor('the line of an answer', hangTimeoutMs(), () =>
    lines().find(({ requestId }) => requestId === headers.get('x-request-id')),
  );

/** Lines are in order: that of a later request says that all before are there, also one that were logged twice. */
async function allLines(): Promise<Line[]> {
  const last = await service.anyone.get<{ requestId: string }>('/api/nothing');
  await lineFor(last);
  return lines().filter(({ requestId }) => requestId !== last.body.requestId);
}

describe('a line of the log', () => {
  const login = (email: string, password = aPassword()) =>
    service.anyone.post('/api/auth/login', { email, password });

  it('names the user who registered, logged in or refreshed, or whose code was exchanged', async () => {
    const ada = await anAccount(service, 'ada');
    expect(await lineOf('/api/auth/register')).toMatchObject({ status: 201, userId: ada.id });
    const { refreshToken } = await aRefreshableLogin(service, ada);
    expect(await lineOf('/api/auth/login')).toMatchObject({ status: 200, userId: ada.id });
    await refresh(service, refreshToken);
    expect(await lineOf('/api/auth/refresh')).toMatchObject({ status: 200, userId: ada.id });
    await exchange(service, await aCode(ada));
    expect(await lineOf('/api/auth/code/exchange')).toMatchObject({ status: 200, userId: ada.id });
  });

  it('names the user whose login failed, and no user for an unknown email', async () => {
    const ada = await anAccount(service, 'ada');
    const failed = { status: 401, code: 'invalid_credentials' };
    expect(await lineFor(await login(ada.email))).toMatchObject({ ...failed, userId: ada.id });
    const line = await lineFor(await login(anEmail()));
    expect(line).toMatchObject(failed);
    expect(line).not.toHaveProperty('userId');
  });

  it('names the user whom a right password alone does not let in', async () => {
    const ada = await anAccount(service, 'ada');
    const { app } = await protect(service, ada);
    const first = await login(ada.email, ada.password);
    expect(await lineFor(first)).toMatchObject({ code: 'second_factor_required', userId: ada.id });
    const second = await secondStep(service, await aChallenge(service, ada), app.wrong());
    expect(await lineFor(second)).toMatchObject({ code: 'invalid_second_factor_code', userId: ada.id });
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    const disabled = await login(ada.email, ada.password);
    expect(await lineFor(disabled)).toMatchObject({ code: 'account_disabled', userId: ada.id });
  });

  it('names the limit that refused a login, and the user if a login failed here before', async () => {
    const ada = await anAccount(service, 'ada');
    for (const email of [ada.email, anEmail()]) {
      for (const _ of times(10, () => 0)) await login(email);
      const line = await lineFor(await login(email));
      expect(line).toMatchObject({ status: 429, code: 'rate_limited', limit: 'login' });
      expect(line['userId']).toBe(email === ada.email ? ada.id : undefined);
    }
  });

  it('names the limit of wrong TOTP codes, and the user whose codes they were', async () => {
    const { account, app } = await protect(service, await anAccount(service, 'ada'));
    const challenge = await aChallenge(service, account);
    for (const _ of times(10, () => 0)) await secondStep(service, challenge, app.wrong());
    expect(await lineFor(await secondStep(service, challenge, app.wrong()))).toMatchObject({
      code: 'rate_limited',
      limit: 'second-factor',
      userId: account.id,
    });
  });

  it.each([
    ['a debug line for the probe', '/health/live', DEBUG],
    ['a debug line for the probe', '/health/ready', DEBUG],
    ['an info line for what is no probe,', '/health/nothing', INFO],
  ])('is %s %s', async (_what, path, level) => {
    expect(await lineFor(await service.anyone.get(path))).toMatchObject({ level });
  });

  it('is a debug line for a poll of the feed, and an info line for one that is refused', async () => {
    const follower = await aServiceCaller(service, 'events');
    expect(await lineFor(await follower.get('/api/events'))).toMatchObject({
      level: DEBUG,
      service: follower.name,
    });
    const refused = await follower.get(`/api/events?after=${anUnknownId()}`);
    expect(await lineFor(refused)).toMatchObject({ level: INFO, status: 410 });
    expect(await lineFor(await service.anyone.get('/api/events'))).toMatchObject({
      level: INFO,
      status: 401,
    });
  });

  it('names the fields of a refused body, and not their values', async () => {
    await service.anyone.post('/api/auth/register', { email: 'a-stray-value', password: '', nobody: 1 });
    const line = await lineOf('/api/auth/register');
    expect(line).toMatchObject({ status: 400, fields: ['email', 'password'] });
    expect(JSON.stringify(line)).not.toMatch(/a-stray-value|nobody/);
  });

  it('names the path of a 404, without its query, each segment cut', async () => {
    const stray = 'abcdefghijklmnopqrstuvwxyz';
    await service.anyone.get(`/api/${stray}/x?token=${stray}`);
    expect(await lineOf(undefined)).toMatchObject({ status: 404, path: '/api/abcdefghijklmnopqrstuvwx/x' });
    const ada = await anAccount(service, 'ada');
    await ada.get('/api/orgs/nobody-knows-it');
    expect(await lineOf('/api/orgs/:orgId')).toMatchObject({
      status: 404,
      path: '/api/orgs/nobody-knows-it',
    });
    await ada.get('/api/me');
    expect(await lineOf('/api/me')).not.toHaveProperty('path');
  });

  it('names the cause of a 503 by its code', async () => {
    await service.db.query('ALTER TABLE migrations RENAME COLUMN name TO label');
    await service.anyone.get('/health/ready');
    await service.db.query('ALTER TABLE migrations RENAME COLUMN label TO name');
    const cause = engine === 'sqlite' ? 'ERR_SQLITE_ERROR 1' : 'ER_BAD_FIELD_ERROR';
    expect(await lineOf('/health/ready')).toMatchObject({ status: 503, cause });
  });

  it.each([undefined, 'a b', 'x'.repeat(129), '"}{"'])(
    'has an id of our own in place of %j',
    async (given) => {
      const caller = given === undefined ? service.anyone : service.anyone.with({ 'x-request-id': given });
      const answer = await caller.get('/api/nothing');
      const id = answer.headers.get('x-request-id');
      expect(id).toMatch(/^[\da-f-]{36}$/);
      expect(answer.body).toMatchObject({ requestId: id });
      expect(await lineOf(undefined)).toMatchObject({ requestId: id });
    },
  );

  it('has the id that the client sent, as its answer has', async () => {
    const given = `gw:${'x'.repeat(120)}.1-A`;
    const answer = await service.anyone.with({ 'x-request-id': given }).get('/api/nothing');
    expect(answer.headers.get('x-request-id')).toBe(given);
    expect(answer.body).toMatchObject({ requestId: given });
    expect(await lineOf(undefined)).toMatchObject({ requestId: given });
  });

  it('has an id of our own where the client sent two', async () => {
    const answer = await sendBytes(
      service,
      requestBytes('GET /api/nothing', ['X-Request-Id: one', 'X-Request-Id: two']),
    );
    expect(answer?.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });

  it('is there for each of the requests that share one id, which stay apart', async () => {
    const [ada, bob] = await Promise.all([anAccount(service, 'ada'), anAccount(service, 'bob')]);
    const both = [ada, bob].map((one) => one.with({ 'x-request-id': 'the-same' }));
    const answers = await Promise.all(
      both.flatMap((one) => [
        one.get<{ user: { id: string } }>('/api/me'),
        one.post('/api/orgs', { name: 'X' }),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 201]);
    const logged = (await allLines()).filter(({ requestId }) => requestId === 'the-same');
    expect(logged.map(({ userId }) => String(userId)).toSorted()).toEqual(
      [ada.id, ada.id, bob.id, bob.id].toSorted(),
    );
  });

  it.each([
    [`00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
    [`00-${TRACE_ID}-0000000000000000-01`, undefined],
    ['forged', undefined],
  ])('has the trace of %s: %s', async (traceparent, traceId) => {
    await (await anAccount(service, 'ada')).with({ traceparent }).get('/api/me');
    expect((await lineOf('/api/me'))['traceId']).toBe(traceId);
  });

  it('says the version at the start, which the OpenAPI document has too', async () => {
    const start = service.logs.find((line) => line.includes('"msg":"listening"'));
    expect(JSON.parse(start!)).toMatchObject({ version });
    const { body } = await service.anyone.get<{ info: { version: string } }>('/openapi.json');
    expect(body.info.version).toBe(version);
  });
});

describe('the log line of a refusal', () => {
  let ada: Account;
  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  /** The reason that the log gives, after making sure that the answer gives none. */
  async function reasonOf(answer: Answer): Promise<string | undefined> {
    expect(answer.body).not.toHaveProperty('reason');
    return (await lineFor(answer)).reason;
  }

  it('says why a token was refused, and the answer does not', async () => {
    const { header, claims } = decodeToken(ada.token);
    const [key] = service.installation.keys;
    const now = Math.floor(Date.now() / 1000);
    const other = `${ada.token.slice(0, -4)}AAAA`;
    const refused = async (token: string) => reasonOf(await ada.as(token).get('/api/me'));
    expect(await refused('no.jwt.atall')).toBe('malformed');
    expect(await refused(other)).toBe('signature');
    expect(await refused(signToken({ ...header, kid: 'unknown' }, claims, key!))).toBe('unknown_key');
    expect(await refused(signToken(header, { ...claims, exp: now - 3600 }, key!))).toBe('expired');
    expect(await refused(signToken(header, { ...claims, aud: 'shop' }, key!))).toBe('claims');
    expect(await refused(signToken(header, { ...claims, iss: 'shop' }, key!))).toBe('claims');
    await ada.post('/api/auth/logout');
    expect(await refused(ada.token)).toBe('session_ended');
  });

  it('says why a code was refused, and the answer does not', async () => {
    const code = await aCode(ada);
    const unused = await aCode(ada);
    const codeVerifier = 'a verifier that nobody asked for, of any length at all';
    expect(await reasonOf(await exchange(service, 'short'))).toBe('malformed');
    expect(await reasonOf(await exchange(service, code, { codeVerifier }))).toBe('unknown');
    expect((await exchange(service, code)).status).toBe(200);
    expect(await reasonOf(await exchange(service, code))).toBe('reused');
    await ada.post('/api/auth/logout');
    expect(await reasonOf(await exchange(service, unused))).toBe('ended');
  });

  it('says why a refresh token was refused, and the answer does not', async () => {
    const { refreshToken: first } = await aRefreshableLogin(service, ada);
    expect(await reasonOf(await refresh(service, `${first.slice(0, -4)}AAAA`))).toBe('forged');
    const { refreshToken: second } = await refreshed(service, first);
    const { refreshToken: third } = await refreshed(service, second);
    expect(await reasonOf(await refresh(service, first))).toBe('reused');
    expect(await reasonOf(await refresh(service, third))).toBe('session_ended');
  });
});

describe('the log of requests', () => {
  const aRegistration = (): string => {
    const credentials = { email: anEmail(), password: aPassword() };
    service.installation.secrets.note(credentials.password);
    return jsonRequest('POST /api/auth/register', credentials);
  };
  const accounts = async (): Promise<number> => (await service.db.query('SELECT id FROM users')).length;

  /** The service finds what is sent meanwhile together with the end of the connection. */
  async function whileStopped(send: () => Promise<unknown>): Promise<void> {
    const [, pid] = /"msg":"listening".*"pid":(\d+)/.exec(service.logs.join('\n')) ?? [];
    process.kill(Number(pid), 'SIGSTOP');
    try {
      await send();
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
  }

  async function untilLogged(count: number): Promise<void> {
    await vi.waitFor(() => expect(lines().length).toBeGreaterThanOrEqual(count), hangTimeoutMs());
  }

  it.each([
    ['on connections of their own', 5, 1],
    ['pipelined on one connection', 1, 5],
  ])(
    'has one line for each of five registrations whose client disconnected, %s',
    async (_how, count, each) => {
      const before = await accounts();
      const connections = await Promise.all(times(count, () => openConnection(service.url)));
      await whileStopped(() =>
        Promise.all(
          connections.map(({ socket }) => {
            socket.end(times(each, aRegistration).join(''));
            return once(socket, 'finish');
          }),
        ),
      );
      await untilLogged(5);
      const logged = await allLines();
      const line = { method: 'POST', route: '/api/auth/register', aborted: true, ip: '127.0.0.1' };
      expect(logged).toEqual(times(5, () => expect.objectContaining(line)));
      expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(5);
      // Requests that still waited for a hash were dropped.
      const done = logged.filter(({ status }) => status !== 503);
      expect(done).toEqual(done.map(() => expect.objectContaining({ status: 201 })));
      expect(await accounts()).toBe(before + done.length);
      expect(done).not.toEqual([]);
    },
  );

  it.each<[string, (socket: Socket) => unknown]>([
    ['closes its side', (socket) => socket.end()],
    ['resets the connection', (socket) => socket.resetAndDestroy()],
  ])('has one line for a body in the middle of which the client %s', async (_what, leave) => {
    const before = await accounts();
    const { socket, text } = await openConnection(service.url);
    const [head, body] = aRegistration().split('\r\n\r\n') as [string, string];
    socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
    await vi.waitFor(() => expect(text()).toContain('100 Continue'), hangTimeoutMs());
    socket.write(body.slice(0, -1), () => leave(socket));
    await untilLogged(1);
    expect(await allLines()).toEqual([
      expect.objectContaining({ route: '/api/auth/register', status: 400, aborted: true }),
    ]);
    expect(await accounts()).toBe(before);
  });

  it('has one line for each answer that was cut off', async () => {
    const { socket } = await openConnection(service.url);
    socket.once('data', () => socket.resetAndDestroy());
    // Far more than the system buffers for a client that reads nothing.
    socket.write(keptAliveRequest('GET /docs/swagger-ui-bundle.js').repeat(20));
    await untilLogged(20);
    const logged = await allLines();
    expect(logged.map(({ status }) => status)).toEqual(times(20, () => 200));
    expect(logged.at(-1)).toMatchObject({ aborted: true });
  });

  it.runIf(engine === 'mariadb')('names the user although the client disconnected', async () => {
    const ada = await anAccount(service, 'ada');
    const locker = await createConnection(service.db.url);
    await locker.query('LOCK TABLES orgs WRITE');
    const { socket, closed } = await openConnection(service.url);
    socket.end(jsonRequest('POST /api/orgs', { name: 'Engines' }, [`Authorization: Bearer ${ada.token}`]));
    await closed;
    await locker.query('UNLOCK TABLES');
    await locker.end();
    await untilLogged(2);
    expect((await allLines()).at(-1)).toMatchObject({ userId: ada.id, status: 201, aborted: true });
  });

  it('tells changes from dry runs of them, and from repeated answers', async () => {
    const ada = await anAccount(service);
    const { org } = (await ada.post<{ org: { id: string } }>('/api/orgs', { name: 'Engines' })).body;
    const by = ada.with({ 'idempotency-key': 'once' });
    for (const query of ['?dryRun=true', '', ''])
      await by.patch(`/api/orgs/${org.id}/members/${ada.id}${query}`, { role: 'owner' });
    const told = (await allLines())
      .slice(-3)
      .map(({ status, dryRun, replayed }) => [status, dryRun, replayed]);
    expect(told).toEqual([
      [200, true, undefined],
      [200, undefined, undefined],
      [200, undefined, true],
    ]);
  });

  it('does not say aborted when the client stayed', async () => {
    await anAccount(service);
    const [line, ...more] = await allLines();
    expect(line).toMatchObject({ route: '/api/auth/register', status: 201 });
    expect(line).not.toHaveProperty('aborted');
    expect(more).toEqual([]);
  });

  const chunked = ['Transfer-Encoding: chunked', 'Content-Type: application/json'];
  it.each([
    ['no HTTP', 400, 'nonsense\r\n\r\n'],
    ['CONNECT', 400, keptAliveRequest('CONNECT /api/me')],
    ['a target without a path', 404, keptAliveRequest('OPTIONS *', ['Connection: close'])],
    ['a path that cannot be decoded', 400, keptAliveRequest('GET /%zz', ['Connection: close'])],
    ['a body in bad chunks', 400, keptAliveRequest('POST /api/auth/login', chunked, 'zz\r\n')],
    ['headers that are too large', 431, keptAliveRequest('GET /', [`X-Large: ${'x'.repeat(20_000)}`])],
    [
      'an odd expectation',
      200,
      keptAliveRequest('GET /.well-known/jwks.json', ['Expect: x', 'Connection: close']),
    ],
  ])('has one line for %s, with the id that the answer names', async (_what, status, bytes) => {
    const { socket, closed, statuses } = await openConnection(service.url);
    socket.write(bytes);
    const answer = await closed;
    expect(statuses()).toEqual([status]);
    const [line, ...more] = await allLines();
    expect(line).toMatchObject({ status, ip: '127.0.0.1' });
    expect(line).not.toHaveProperty('aborted');
    expect(answer).toContain(line!.requestId);
    expect(more).toEqual([]);
  });

  it('has none for a connection without a request', async () => {
    const { socket, closed } = await openConnection(service.url);
    socket.end();
    await closed;
    expect(await allLines()).toEqual([]);
  });
});

/** That no secret is in the logs is checked at the end of every test file, by the service's own `stop()`. */
describe('the logs', () => {
  it('are whole JSON lines, whatever a client sends', async () => {
    const forged = '\n{"level":30,"msg":"forged line"}';
    await service.anyone.post('/api/auth/login', {
      email: `a@b.co${forged}`,
      password: aPassword() + forged,
    });
    await service.anyone.get(`/api/orgs/${encodeURIComponent(forged)}`);
    await (await anAccount(service)).get(`/api/orgs/${encodeURIComponent(forged)}`);
    await service.anyone.with({ 'user-agent': 'forged line', 'x-request-id': 'forged line' }).get('/api/me');
    await allLines();
    for (const line of service.logs) {
      const entry = JSON.parse(line) as Line;
      expect(entry.msg).not.toBe('forged line');
      expect(entry.level).toEqual(expect.any(Number));
      expect(new Date(entry.time).toISOString()).toBe(entry.time);
    }
  });

  it('record who did what to whom', async () => {
    const { org, owner, member } = await anOrg(service);
    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    const who = { userId: owner.id, orgId: org.id, memberId: member.id };
    const line = { method: 'PATCH', status: 200, ...who };
    expect(await allLines()).toContainEqual(expect.objectContaining(line));
  });

  it('hold no secret, even when a client misplaces it or a request fails', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aCode(ada);
    const password = aPassword();
    service.installation.secrets.note(password);
    await service.anyone.get(`/api/me?access_token=${ada.token}&password=${password}`);
    await service.anyone.post(`/api/auth/code/exchange?code=${code}`, { code: [code] });
    await service.anyone.get(`/api/${code}`);
    await service.anyone.get(`/${ada.token}`);
    await service.anyone.with({ cookie: `token=${ada.token}` }).get('/api/me');
    await service.anyone.post('/api/auth/register', { email: ada.email, password });
    await service.anyone.post('/api/auth/login', { email: password, password });
    await service.anyone.send('POST', '/api/auth/login', {
      headers: { 'content-type': 'application/json' },
      body: `{"email":"${anEmail()}","password":"${password}`,
    });
    await service.db.query("UPDATE users SET password_hash = '$argon2id$damaged' WHERE id = ?", [ada.id]);
    await service.anyone.post('/api/auth/login', { email: ada.email, password: ada.password });
    await sendBytes(
      service,
      requestBytes('GET /api/me', [`Authorization: Bearer ${ada.token}`, `bad ${password}`]),
    );
    await allLines();
    expect(service.installation.secrets.leaksIn(service.logs)).toEqual([]);
  });
});
