import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { notFound } from '../support/expected.js';
import { requestBytes, sendBytes } from '../support/connections.js';
import { startService } from '../support/service.js';
import { ServedPage } from './served-page.js';

const LOGIN = '/api/auth/login';
const SECOND_STEP = '/api/auth/login/second-factor';
const REFRESH = '/api/auth/refresh';
const TOKEN_OF_EXAMPLES =
  '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e.1.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';

const service = await startService();
afterAll(() => service.stop());

describe('the page of the documentation', () => {
  it('loads only files of its own, all of which exist', async () => {
    const page = await service.anyone.get('/docs');
    const final = page.headers.get('location') === null ? page : await service.anyone.get('/docs/');
    expect(final.status).toBe(200);
    expect(final.headers.get('content-type')).toMatch(/^text\/html/);

    const assets = [...final.text.matchAll(/(?:src|href)\s*=\s*"([^"]+)"/g)].map(([, link]) => link!);
    expect(assets.length).toBeGreaterThan(3);
    for (const asset of assets) {
      const url = new URL(asset, `${service.url}/docs`);
      expect(url.origin, asset).toBe(service.url);
      const answer = await fetch(url);
      expect([asset, answer.status]).toEqual([asset, 200]);
      await answer.arrayBuffer();
    }
    expect(final.headers.get('content-security-policy')).not.toMatch(/https?:/);
  });

  it('is one page, with or without a slash at the end or the name of a file', async () => {
    const answer = await fetch(`${service.url}/docs/`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
    const [page, index] = await Promise.all(
      ['/docs', '/docs/index.html'].map((path) => service.anyone.get(path)),
    );
    expect(index).toMatchObject({ status: 200, text: page!.text });
  });

  it('is off in production, together with the document', async () => {
    const production = await startService({ env: { NODE_ENV: 'production', HOST: '127.0.0.1' } });
    const files = ['/docs/index.html', '/docs/swagger-ui.css', '/docs/%2e%2e/docs/swagger-ui.css', '/%64ocs'];
    const documents = ['/docs-json', '/docs-yaml', '/openapi.json', '/openapi.yaml'];
    for (const path of ['/', '/docs', '/docs/', ...files, ...documents])
      expect(await production.anyone.get(path), path).toMatchObject(notFound);
    await production.stop();
  });

  it.each([
    ...['../', '..%2f', '%2e%2e/%2e%2e/', '....//'].map((up) => `${up}package.json`),
    ...'nothing.js a%2fb a/b swagger-ui.js/x swagger-ui.js%2fx / . .. %5c..%5cx %00 x%00.js LICENSE'.split(
      ' ',
    ),
    'a'.repeat(300),
    'a/'.repeat(600),
  ])('has no other file: %s', async (path) => {
    expect(await sendBytes(service, requestBytes(`GET /docs/${path}`))).toMatchObject(notFound);
  });
});

describe('Swagger UI', () => {
  let page: ServedPage;

  beforeEach(async () => {
    page = await ServedPage.of(service);
  });

  const openForm = (path: string, body: object): unknown => {
    page.setBody({ value: JSON.stringify(body), pathMethod: [path, 'post'] });
    return JSON.parse(page.bodies.get(path)!);
  };

  it.each(['/api/auth/register', LOGIN, SECOND_STEP, REFRESH])(
    'sends the token of %s from then on',
    (path) => {
      page.answered(path, { token: 'a.b.c' });
      expect(page.token).toBe('a.b.c');
    },
  );

  it.each([
    ['of another origin', LOGIN, { origin: 'https://attacker.example' }],
    ['of a refused login', LOGIN, { ok: false }],
    ['of a code, which is for another service', '/api/auth/code/exchange', {}],
    ['of another path', '/api/me', {}],
    ['of a path that only begins so', `${LOGIN}/x`, {}],
  ])('does not take a token %s', (_which, path, answer) => {
    page.answered(path, { token: 'a.b.c', refreshToken: 'r' }, answer);
    expect(page.token).toBeUndefined();
    expect(openForm(REFRESH, { refreshToken: TOKEN_OF_EXAMPLES })).toEqual({ refreshToken: '' });
  });

  it('leads from a login to its second step, with the challenge filled in', () => {
    const challenge =
      '019a8f3e-5c1d-7e2f-8a3b-4c5d6e7f8091.0.1795338000000.1795338300000.' + TOKEN_OF_EXAMPLES.slice(-43);
    expect(openForm(SECOND_STEP, { challenge, code: '' })).toEqual({ challenge: '', code: '' });

    const refusal = { code: 'second_factor_required', challenge: 'c' };
    page.answered(LOGIN, refusal, { ok: false, status: 403 });

    expect(page.opened).toEqual(['completeLogin']);
    expect(JSON.parse(page.bodies.get(SECOND_STEP)!)).toEqual({ challenge: 'c', code: '' });
    expect(openForm(SECOND_STEP, { challenge, code: '' })).toEqual({ challenge: 'c', code: '' });
    expect(page.token).toBeUndefined();
    page.answered(LOGIN, { ...refusal, challenge: 'd' }, { origin: 'https://attacker.example', ok: false });
    expect(openForm(SECOND_STEP, { challenge, code: '' })).toEqual({ challenge: 'c', code: '' });
  });

  it('forgets a token with a logout or when the service refuses it, and keeps none in the browser', () => {
    page.answered(LOGIN, { token: 'a.b.c', refreshToken: 'r' });
    page.answered('/api/auth/logout', { ok: true }, { ok: false });
    page.answered(LOGIN, { code: 'invalid_credentials' }, { ok: false, status: 401 });
    page.answered('/api/me', { code: 'rate_limited' }, { ok: false, status: 429 });
    expect(page.token).toBe('a.b.c');

    page.answered('/api/me', { code: 'invalid_token' }, { ok: false, status: 401 });
    expect(page.token).toBeUndefined();
    expect(openForm(REFRESH, { refreshToken: TOKEN_OF_EXAMPLES })).toEqual({ refreshToken: 'r' });

    page.answered(LOGIN, { token: 'a.b.c', refreshToken: 'r' });
    page.answered('/api/auth/logout', { ok: true });
    expect(page.token).toBeUndefined();
    expect(openForm(REFRESH, { refreshToken: TOKEN_OF_EXAMPLES })).toEqual({ refreshToken: '' });
    expect(page.options.persistAuthorization).toBe(false);
  });

  it('has a document for each kind of callers, and keeps the login when another one is chosen', () => {
    const urls = ['Clients', 'Services', 'Operators'].map((name) => ({
      name,
      url: `/openapi/${name.toLowerCase()}.json`,
    }));
    expect(page.options.urls).toEqual(urls);
    expect(page.options.spec).toEqual({});
    page.answered(LOGIN, { token: 'a.b.c' });
    page.answered('/api/orgs', { org: { id: 'o' } });
    page.parameters.clear();

    page.select('Operators');
    page.select('Services');

    expect(page.token).toBe('a.b.c');
    expect(page.parameters.get('get /api/orgs/{orgId}/members orgId')).toBe('o');
  });

  it('begins a form with the refresh token or code of the last answer, never with that of an example', () => {
    expect(openForm(REFRESH, { refreshToken: TOKEN_OF_EXAMPLES })).toEqual({ refreshToken: '' });

    page.answered(LOGIN, { token: 'a.b.c', refreshToken: 'first' });
    expect(JSON.parse(page.bodies.get(REFRESH)!)).toEqual({ refreshToken: 'first' });
    page.answered(REFRESH, { token: 'a.b.d', refreshToken: 'second' });
    expect(openForm(REFRESH, { refreshToken: TOKEN_OF_EXAMPLES })).toEqual({ refreshToken: 'second' });
    expect(openForm(REFRESH, { refreshToken: 'typed' })).toEqual({ refreshToken: 'typed' });

    const exchange = '/api/auth/code/exchange';
    const code = TOKEN_OF_EXAMPLES.slice(-43);
    expect(openForm(exchange, { code, codeVerifier: 'v' })).toEqual({ code: '', codeVerifier: 'v' });
    page.answered('/api/auth/code', { code: 'issued' });
    expect(JSON.parse(page.bodies.get(exchange)!)).toEqual({ code: 'issued', codeVerifier: 'v' });
  });

  it('fills in the ids that an answer names', () => {
    page.answered('/api/orgs', { org: { id: 'o' } });
    page.answered('/api/orgs/o/members', { member: { userId: 'u' } });
    page.answered('/api/orgs/o/invitations', { invitation: { id: 'i' } });
    expect(page.parameters.get('post /api/orgs/{orgId}/members orgId')).toBe('o');
    expect(page.parameters.get('patch /api/orgs/{orgId}/members/{userId} userId')).toBe('u');
    expect(page.parameters.get('delete /api/orgs/{orgId}/invitations/{invitationId} invitationId')).toBe('i');
    expect([...page.parameters.keys()].filter((key) => key.includes('sessions'))).toEqual([]);
  });

  it('fills in the account that an operator has found, and none of several', () => {
    const disable = 'post /api/operators/users/{userId}/disable userId';
    page.select('Operators');
    page.answered('/api/operators/users?search=ad', { users: [{ id: 'ada' }] });
    expect(page.parameters.get(disable)).toBe('ada');

    page.answered('/api/operators/users?search=a', { users: [{ id: 'ada' }, { id: 'alan' }] });
    expect(page.parameters.get(disable)).toBe('');
    page.answered('/api/operators/users?limit=1', { users: [{ id: 'ada' }], nextCursor: 'c' });
    expect(page.parameters.get(disable)).toBe('');
    page.answered('/api/operators/users/alan', { user: { id: 'alan' } });
    expect(page.parameters.get(disable)).toBe('alan');
    page.answered('/api/auth/login', { token: 'a.b.c', user: { id: 'operator' } });
    expect(page.parameters.get(disable)).toBe('alan');

    page.answered('/api/operators/mails', { mails: [{ id: 'm' }] });
    page.answered('/api/operators/services', { services: [{ name: 'billing' }] });
    page.answered('/api/operators/orgs', { orgs: [{ id: 'o' }] });
    expect(page.parameters.get('post /api/operators/mails/{mailId}/retry mailId')).toBe('m');
    expect(page.parameters.get('post /api/operators/services/{name}/disable name')).toBe('billing');
    expect(page.parameters.get('post /api/operators/orgs/{orgId}/owners orgId')).toBe('o');
    const userOfExamples = '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d';
    expect(openForm('/api/operators/orgs/{orgId}/owners', { userId: userOfExamples })).toEqual({
      userId: 'alan',
    });
  });

  it('shows each answer as a line with its status and codes, until it is pressed', () => {
    const states: unknown[] = [];
    let isOpen = false;
    const React = {
      Fragment: 'fragment',
      createElement: (type: unknown, properties: unknown, ...children: unknown[]) => ({
        type,
        properties,
        children,
      }),
      useState: () => [isOpen, (value: boolean) => states.push((isOpen = value))],
    };
    const codes = { keySeq: () => ({ toArray: () => ['unauthorized', 'invalid_token'] }) };
    const response = { get: () => 'a long description', getIn: () => codes };
    const [wrap] = page.plugins.flatMap(({ wrapComponents }) => wrapComponents?.response ?? []);
    const render = (): string => JSON.stringify(wrap!('original', { React })({ code: '401', response }));

    expect(render()).toMatch(/"401".*"unauthorized".*"invalid_token"/);
    expect(render()).not.toMatch(/original|a long description/);
    isOpen = true;
    expect(render()).toContain('original');
  });

  it('knows how long an operator stays logged in', async () => {
    expect(page.options.operatorsLoginAge).toBe(3600);
    const strict = await startService({ env: { OPERATORS_LOGIN_AGE: '5m' } });
    expect((await ServedPage.of(strict)).options.operatorsLoginAge).toBe(300);
    await strict.stop();
  });

  it('has a box to filter with, and lists what ends something last', () => {
    const methods = ['delete', 'get', 'patch', 'delete', 'post'].map((method) => ({ get: () => method }));
    const sorted = methods.toSorted((one, other) => page.options.operationsSorter(one, other));
    expect(page.options.filter).toBe(true);
    expect(sorted.map(({ get }) => get())).toEqual(['get', 'patch', 'post', 'delete', 'delete']);
  });
});
