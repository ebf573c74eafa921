import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { aCode, anAccount, anEmail, aPassword } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/raw-connection.js';
import { aChallenge, protect, secondStep } from '../support/second-factor.js';
import { startService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

interface Line {
  level: number;
  msg: string;
  requestId?: string;
  route?: string;
  [field: string]: unknown;
}

const INFO = 30;
const DEBUG = 20;
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

const service = await startService({ env: { LOG_LEVEL: 'debug', RATE_LIMIT_REGISTER: 'off' } });
afterAll(() => service.stop());

describe('a line of the log', () => {
  let begin: number;
  beforeEach(() => {
    begin = service.logs.length;
  });

  const lines = (): Line[] => service.logs.slice(begin).map((line) => JSON.parse(line) as Line);

  /** The line of the last request with that route, or without one, once it is there. */
  const lineOf = (route: string | undefined): Promise<Line> =>
    waitFor(`the line of ${route}`, hangTimeoutMs(), () =>
      lines().findLast((line) => line.msg === 'request' && line.route === route),
    );

  const login = (email: string, password = aPassword()) =>
    service.anyone.post('/api/auth/login', { email, password });

  const lineFor = ({ headers }: { headers: Headers }): Promise<Line> =>
    waitFor('the line of an answer', hangTimeoutMs(), () =>
      lines().find(({ msg, requestId }) => msg === 'request' && requestId === headers.get('x-request-id')),
    );

  it('names the user who registered, logged in or refreshed, or whose code was exchanged', async () => {
    const ada = await anAccount(service, 'ada');
    expect(await lineOf('/api/auth/register')).toMatchObject({ status: 201, userId: ada.id });

    const { body } = await service.anyone.post<{ refreshToken: string }>('/api/auth/login', {
      email: ada.email,
      password: ada.password,
      refresh: true,
    });
    expect(await lineOf('/api/auth/login')).toMatchObject({ status: 200, userId: ada.id });

    await service.anyone.post('/api/auth/refresh', { refreshToken: body.refreshToken });
    expect(await lineOf('/api/auth/refresh')).toMatchObject({ status: 200, userId: ada.id });

    await service.anyone.post('/api/auth/code/exchange', { code: await aCode(ada) });
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
    expect(await lineFor(second)).toMatchObject({ code: 'invalid_code', userId: ada.id });

    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    const disabled = await login(ada.email, ada.password);
    expect(await lineFor(disabled)).toMatchObject({ code: 'account_disabled', userId: ada.id });
  });

  it('names the limit that refused a login, and the user if a login failed here before', async () => {
    const ada = await anAccount(service, 'ada');
    for (const email of [ada.email, anEmail()]) {
      await atOnce(times(10, () => () => login(email)));
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

  it.each(['live', 'ready'])('is a debug line for the probe /health/%s', async (probe) => {
    await service.anyone.get(`/health/${probe}`);

    expect(await lineOf(`/health/${probe}`)).toMatchObject({ level: DEBUG, status: 200 });
  });

  it('is an info line for what is no probe', async () => {
    await service.anyone.get('/health/nothing');

    expect(await lineOf(undefined)).toMatchObject({ level: INFO, status: 404 });
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
    const logged = await waitFor('four lines', hangTimeoutMs(), () => {
      const found = lines().filter(({ requestId }) => requestId === 'the-same');
      return found.length === 4 && found;
    });
    expect(logged.map(({ userId }) => String(userId)).toSorted()).toEqual(
      [ada.id, ada.id, bob.id, bob.id].toSorted(),
    );
  });

  it.each([
    [`00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
    [`00-${TRACE_ID}-0000000000000000-01`, undefined],
    ['forged', undefined],
  ])('has the trace of %s: %s', async (traceparent, traceId) => {
    const ada = await anAccount(service, 'ada');
    await ada.with({ traceparent }).get('/api/me');

    expect((await lineOf('/api/me'))['traceId']).toBe(traceId);
  });

  it('says the version at the start, which the OpenAPI document has too', async () => {
    const start = service.logs.find((line) => line.includes('"msg":"listening"'));
    expect(JSON.parse(start!)).toMatchObject({ version });

    const { body } = await service.anyone.get<{ info: { version: string } }>('/openapi.json');
    expect(body.info.version).toBe(version);
  });
});
