import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { invalidCode, invalidFields } from '../support/expected.js';
import { type Account, aBoundCode, aCode, anAccount, exchange, isAlive } from '../support/personas.js';
import { allRows } from '../support/rows.js';
import { type Service, startSharedCluster } from '../support/service.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';
import { decodeToken, sessionIdOf } from '../support/signing-keys.js';

const CLIENTS = 50;

const cluster = await startSharedCluster();
const service = cluster.instances[0]!;
const [billing, reports] = [await aServiceClient(cluster.db), await aServiceClient(cluster.db)];

let ada: Account;
beforeEach(async () => {
  ada = await anAccount(service, 'ada');
});

const newKey = (): string => randomBytes(24).toString('base64url');

interface Exchange {
  code: string;
  key?: string | undefined;
  by?: ServiceClient | undefined;
  codeVerifier?: string | undefined;
  at?: Service;
}

function send({ code, key, by, codeVerifier, at = service }: Exchange): Promise<Answer<{ token: string }>> {
  const headers = {
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(by && { authorization: by.authorization }),
  };
  return exchange({ anyone: at.anyone.with(headers) }, code, { codeVerifier });
}

async function aCodeFor({ name }: ServiceClient): Promise<string> {
  return (await ada.post<{ code: string }>('/api/auth/code', { audience: name })).body.code;
}

const isRepeated = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';

async function opened(one: Exchange): Promise<Account> {
  const answer = await send(one);
  expect(answer.status, answer.text).toBe(200);
  expect(isRepeated(answer)).toBe(false);
  return ada.as(answer.body.token);
}

const endings = async (session: Account): Promise<unknown[]> => {
  const sql = "SELECT data FROM events WHERE type = 'session.ended' AND session_id = ?";
  return cluster.db.query(sql, [sessionIdOf(session)]);
};

const age = (session: Account, ms: number) =>
  cluster.db.query('UPDATE sessions SET created_at = created_at - ? WHERE id = ?', [
    ms,
    sessionIdOf(session),
  ]);

describe('a repeated exchange', () => {
  it.each<[string, () => Promise<Omit<Exchange, 'key'>>]>([
    ['a plain code', async () => ({ code: await aCode(ada) })],
    ['a plain code by a service', async () => ({ code: await aCode(ada), by: billing })],
    ['a code for one service', async () => ({ code: await aCodeFor(billing), by: billing })],
    [
      'a code with a verifier',
      async () => {
        const { code, verifier } = await aBoundCode(ada);
        return { code, codeVerifier: verifier };
      },
    ],
  ])('of %s returns another token of the same session', async (_what, prepare) => {
    const one = { ...(await prepare()), key: newKey() };
    const first = await opened(one);
    const again = await send({ ...one, key: `"${one.key}"` });
    expect(again.status, again.text).toBe(200);
    expect(isRepeated(again)).toBe(true);
    expect(again.headers.get('etag')).toBeNull();
    const [before, after] = [first.token, again.body.token].map((token) => decodeToken(token).claims);
    expect(after).toEqual({
      ...before,
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: after!['exp'],
    });
    expect(after!['jti']).not.toBe(before!['jti']);
    expect(await endings(first)).toEqual([]);
  });

  it('of a session below a head names the same login and head', async () => {
    const below = ada.as((await opened({ code: await aCode(ada) })).token);
    const one = { code: await aCode(below), key: newKey() };
    const first = decodeToken((await opened(one)).token).claims;
    const again = decodeToken((await send(one)).body.token).claims;
    expect(again).toMatchObject({ login_sid: sessionIdOf(ada), branch_sid: sessionIdOf(below) });
    expect(again).toEqual({ ...first, jti: again['jti'], iat: again['iat'] });
  });

  it('works as often as it is sent, after the code has been deleted, and with a clock that was set back', async () => {
    const one = { code: await aCode(ada), key: newKey() };
    const first = await opened(one);
    await cluster.db.query('DELETE FROM authorization_codes WHERE session_id = ?', [sessionIdOf(ada)]);
    for (const ms of [0, 30_000, -60_000]) {
      await age(first, ms);
      expect(isRepeated(await send(one))).toBe(true);
    }
    expect(await isAlive(first)).toBe(true);
  });

  it.each<[string, Partial<Exchange>, number]>([
    ['with another key', { key: newKey() }, 0],
    ['without a key', { key: undefined }, 0],
    ['by another service', { by: reports }, 0],
    ['without credentials', { by: undefined }, 0],
    ['too late', {}, 60_000],
    ['by a clock that was set far back', {}, -61_000],
  ])('%s is refused, and ends the session', async (_what, other, ageMs) => {
    const one = { code: await aCode(ada), key: newKey(), by: billing };
    const session = await opened(one);
    await age(session, ageMs);
    expect(await send({ ...one, ...other })).toMatchObject(invalidCode);
    expect(await isAlive(session)).toBe(false);
    expect(await endings(session)).toEqual([{ data: '{"reason":"code_reused"}' }]);
    expect(await send(one)).toMatchObject(invalidCode);
  });

  it('of an exchange without a key is refused, and ends the session', async () => {
    const code = await aCode(ada);
    const session = await opened({ code });
    expect(await send({ code, key: newKey() })).toMatchObject(invalidCode);
    expect(await isAlive(session)).toBe(false);
  });

  it('ends nothing without its verifier, or by a service that the code is not for', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const pkce = { code, codeVerifier: verifier, key: newKey() };
    const bound = { code: await aCodeFor(billing), by: billing, key: newKey() };
    const [first, second] = [await opened(pkce), await opened(bound)];
    for (const wrong of [
      { ...pkce, codeVerifier: 'x'.repeat(43) },
      { ...bound, by: reports },
    ])
      expect(await send(wrong)).toMatchObject(invalidCode);
    expect(await endings(first)).toEqual([]);
    expect(await endings(second)).toEqual([]);
    expect([isRepeated(await send(pkce)), isRepeated(await send(bound))]).toEqual([true, true]);
  });

  it.each<[string, (session: Account) => Promise<unknown>]>([
    ['a logout', (session) => session.post('/api/auth/logout')],
    ['a logout of its login', () => ada.post('/api/auth/logout')],
    [
      'its user is disabled',
      () => cluster.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]),
    ],
    [
      'it has expired',
      (session) =>
        cluster.db.query('UPDATE sessions SET expires_at = 1 WHERE id = ?', [sessionIdOf(session)]),
    ],
  ])('is refused if its session has ended meanwhile: %s', async (_what, end) => {
    const one = { code: await aCode(ada), key: newKey(), by: billing };
    const session = await opened(one);
    await end(session);
    expect(await send(one)).toMatchObject(invalidCode);
    expect(JSON.stringify(await endings(session))).not.toContain('code_reused');
  });

  it('is refused once its service is disabled', async () => {
    const shop = await aServiceClient(cluster.db);
    const one = { code: await aCodeFor(shop), by: shop, key: newKey() };
    await opened(one);
    await shop.endSessions();
    expect(await send(one)).toMatchObject(invalidCode);
  });

  it('is answered 50 times at once on all instances, and opens one session', async () => {
    const one = { code: await aCode(ada), key: newKey() };
    const on = (place: number): Service => cluster.instances[place % cluster.instances.length]!;
    const answers = await atOnce(times(CLIENTS, (place) => () => send({ ...one, at: on(place) })));
    expect(answers.map(({ status }) => status)).toEqual(times(CLIENTS, () => 200));
    expect(answers.filter((answer) => !isRepeated(answer))).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => decodeToken(body.token).claims['sid'])).size).toBe(1);
    const sql = 'SELECT id FROM sessions WHERE login_id = ?';
    expect(await cluster.db.query(sql, [sessionIdOf(ada)])).toHaveLength(1);
  });

  it('leaves its key nowhere in the database', async () => {
    const one = { code: await aCode(ada), key: newKey() };
    await opened(one);
    await send(one);
    expect(JSON.stringify(await allRows(cluster.db))).not.toContain(one.key);
  });
});

describe('the key of an exchange', () => {
  it.each([
    ['of 15 characters', 'k'.repeat(15)],
    ['of 15 characters in quotes', `"${'k'.repeat(15)}"`],
    ['of 256 characters', 'k'.repeat(256)],
    ['with a space', `${'k'.repeat(16)} k`],
    ['with a tab', `${'k'.repeat(16)}\tk`],
    ['with another letter', `${'k'.repeat(16)}é`],
    ['that is empty', ''],
    ['with an unfinished quote', `"${'k'.repeat(16)}`],
    ['in two headers', `${'k'.repeat(16)}, ${'l'.repeat(16)}`],
  ])('%s is refused, and the code stays valid', async (_what, key) => {
    const code = await aCode(ada);
    expect(await send({ code, key })).toMatchObject(invalidFields('Idempotency-Key'));
    expect((await send({ code, key: newKey() })).status).toBe(200);
  });

  it.each([16, 255])('may have %i characters', async (length) => {
    const one = { code: await aCode(ada), key: 'k'.repeat(length) };
    await opened(one);
    expect(isRepeated(await send({ ...one, key: `"${one.key}"` }))).toBe(true);
  });
});
