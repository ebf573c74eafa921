import { bodyOf } from '../support/answer.js';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { CodesService } from '../../src/auth/sessions/codes.service.js';
import { atOnce, times } from '../support/at-once.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import {
  aCodeText,
  aJwt,
  boundTokenRefused,
  invalidClient,
  invalidCode,
  invalidFields,
  invalidToken,
  malformedJson,
} from '../support/expected.js';
import type { Account } from '../support/personas.js';
import {
  aBoundCode,
  aCode,
  anAccount,
  anOrgOf,
  anUnknownId,
  exchange,
  isAlive,
} from '../support/personas.js';
import { type Service, startSharedCluster } from '../support/service.js';
import { decodeToken, sessionIdOf } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { holdRows } from '../support/held-rows.js';
import { insertColumns, insertRow } from '../support/rows.js';
import { wired } from '../support/wired.js';
import { aServiceClient, basic, type ServiceClient } from '../support/services.js';

const CHALLENGE = createHash('sha256').update('v'.repeat(43)).digest('base64url');
const MAX_UNUSED = 10;
const MANY = 300;
const ROUNDS = 5;
const ACCOUNTS = 3;
const JSON_TYPE = { 'content-type': 'application/json' };

const cluster = await startSharedCluster();
const service = cluster.instances[0]!;

let user: Account;
beforeEach(async () => {
  user = await anAccount(service, 'ada');
});

describe('POST /api/auth/code', () => {
  it.each<[string, Parameters<Account['send']>[2]]>([
    ['no body', {}],
    ['an empty JSON body', { headers: JSON_TYPE }],
    ['{}', { headers: JSON_TYPE, body: '{}' }],
  ])('issues a code, with %s', async (_what, request) => {
    const answer = await user.send('POST', '/api/auth/code', request);
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toEqual({ code: aCodeText });
  });

  it.each(['null', '[]', '"x"', '1', '{'])('refuses %s as a body', async (body) => {
    const answer = await user.send('POST', '/api/auth/code', { headers: JSON_TYPE, body });
    expect(answer).toMatchObject(malformedJson);
  });

  it.each([
    [{ codeChallenge: CHALLENGE, codeChallengeMethod: 'plain' }, ['codeChallengeMethod']],
    [{ codeChallenge: CHALLENGE, codeChallengeMethod: 's256' }, ['codeChallengeMethod']],
    [{ codeChallenge: CHALLENGE, codeChallengeMethod: ['S256'] }, ['codeChallengeMethod']],
    [{ codeChallenge: CHALLENGE }, ['codeChallengeMethod']],
    [{ codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: CHALLENGE.slice(1), codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: `${CHALLENGE}x`, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: `${CHALLENGE}\n`, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: `${CHALLENGE.slice(1)}=`, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: [CHALLENGE], codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: 0, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: null, codeChallengeMethod: null }, ['codeChallenge', 'codeChallengeMethod']],
    [{ aud: 'billing' }, ['body']],
    [{ ttl: 9, userId: 'x' }, ['body']],
    [{ code_challenge: CHALLENGE, code_challenge_method: 'S256' }, ['body']],
    [{ codeChallenge: CHALLENGE, codeChallengeMethod: 'S256', Audience: 'billing' }, ['body']],
    [{ toString: 'billing' }, ['body']],
  ])('refuses any other PKCE request, and unknown fields: %j', async (body, fields) => {
    expect(await user.post('/api/auth/code', body)).toMatchObject(invalidFields(...fields));
  });

  it('issues codes that are independent of each other', async () => {
    const codes = [];
    for (let round = 0; round < 500; round += 1) codes.push(await aCode(user));
    expect(new Set(codes).size).toBe(500);
    for (const position of [0, 1, 20, 41])
      expect(new Set(codes.map((code) => code[position])).size, `character ${position}`).toBeGreaterThan(48);
    const ones = Buffer.from(codes.map((code) => code.slice(0, 40)).join(''), 'base64url').reduce(
      (sum, byte) => sum + byte.toString(2).replaceAll('0', '').length,
      0,
    );
    // 120,000 fair bits: nine standard deviations either side
    expect(Math.abs(ones - 60_000)).toBeLessThan(1_560);
  });

  it('stores only a keyed hash of a code and its challenge', async () => {
    const plain = await aCode(user);
    const { code: bound, verifier } = await aBoundCode(user);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const rows = await cluster.db.query('SELECT * FROM authorization_codes');
    const stored = JSON.stringify(rows);
    for (const secret of [plain, bound, challenge]) {
      const bytes = Buffer.from(secret, 'base64url');
      for (const form of [secret, bytes.toString('hex'), bytes.toString('base64')])
        expect(stored).not.toContain(form);
    }
    const hashes = rows.map(({ hash }) => hash);
    expect(hashes).toContain(createHmac('sha256', plain).update('').digest('base64url'));
    expect(hashes).toContain(createHmac('sha256', bound).update(challenge).digest('base64url'));
  });

  it('succeeds for one user although another one is deleted meanwhile', async () => {
    const ask = (account: Account) => account.post('/api/auth/code', {});
    for (let round = 1; round <= ROUNDS; round += 1) {
      const adas = await Promise.all(times(ACCOUNTS, () => anAccount(service, 'ada')));
      const gone = await anAccount(service, `gone-${round}`);
      // The check of its token finds the session, and the code that is inserted does not.
      await cluster.db.query(
        `CREATE TRIGGER vanishes BEFORE INSERT ON authorization_codes FOR EACH ROW
          BEGIN DELETE FROM sessions WHERE id = NEW.session_id AND id = '${sessionIdOf(gone)}'; END`,
      );
      const asked = times(ACCOUNTS * MAX_UNUSED, (i) => () => {
        return Promise.all([ask(adas[i % ACCOUNTS]!), ask(gone)]);
      });
      const answers = await atOnce(asked);
      await cluster.db.query('DROP TRIGGER vanishes');
      for (const [issued, refused] of answers) {
        expect(issued.status).toBe(201);
        expect(refused).toMatchObject(invalidToken);
      }
      for (const one of adas) expect(await rowsOf(one)).toBe(MAX_UNUSED);
    }
  });
});

async function rowsOf(account: Account): Promise<number> {
  const sql = 'SELECT hash FROM authorization_codes WHERE session_id = ?';
  return (await cluster.db.query(sql, [sessionIdOf(account)])).length;
}

describe('the unused codes of a session', () => {
  const on = (i: number): Service => cluster.instances[i % cluster.instances.length]!;
  const issue = (i: number): Promise<string> => aCode(user.at(on(i)));
  async function issued(count: number): Promise<string[]> {
    const codes: string[] = [];
    for (let i = 0; i < count; i += 1) codes.push(await issue(i));
    return codes;
  }

  it('are ten: an older one is void on every instance, and stays so when new ones are used', async () => {
    const codes = await issued(MAX_UNUSED + 3);
    const old = codes.slice(0, 3);
    for (const [i, code] of old.entries()) expect(await exchange(on(i), code)).toMatchObject(invalidCode);
    for (const [i, code] of codes.slice(3).toReversed().entries())
      expect((await exchange(on(i), code)).status).toBe(200);
    for (const [i, code] of old.entries()) expect(await exchange(on(i), code)).toMatchObject(invalidCode);
  });

  it('are not those that were used: a code waits for its service while twenty others come and go', async () => {
    const slow = await issue(0);
    for (const i of times(2 * MAX_UNUSED, (number) => number))
      expect((await exchange(on(i + 1), await issue(i))).status).toBe(200);
    expect((await exchange(service, slow)).status).toBe(200);
  });

  it('are those of that session alone', async () => {
    const code = await issue(0);
    const grace = await anAccount(service, 'grace');
    for (const _ of times(MAX_UNUSED + 5, () => 0)) await aCode(grace);
    expect((await exchange(service, code)).status).toBe(200);
  });

  it('are ten of 31 that instances issue and exchange at once', async () => {
    const first = await issue(0);
    const issuing = times(30, (i) => () => user.at(on(i)).post<{ code: string }>('/api/auth/code'));
    const codes = (await atOnce(issuing)).map(({ body }) => body.code);
    const answers = await atOnce([...codes, first].map((code, i) => () => exchange(on(i), code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MAX_UNUSED);
    expect(answers.at(-1)).toMatchObject(invalidCode);
  });

  it('are ten although all have one time, and the clean-up keeps those ten', async () => {
    const hashOf = (code: string): string => createHmac('sha256', code).update('').digest('base64url');
    const codes = times(31, () => randomBytes(32).toString('base64url'));
    // Instances whose clocks are ahead have issued them.
    const [createdAt, expiresAt] = [Date.now() + 60_000, Date.now() + 120_000];
    const rows = codes.map((code) => [hashOf(code), sessionIdOf(user), createdAt, expiresAt]);
    await insertColumns(cluster.db, 'authorization_codes', 'hash, session_id, created_at, expires_at', rows);
    const ordered = codes.toSorted((a, b) => (hashOf(a) < hashOf(b) ? 1 : -1));
    for (const code of ordered.slice(MAX_UNUSED))
      expect(await exchange(service, code)).toMatchObject(invalidCode);
    await issued(cluster.instances.length * (MAX_UNUSED + 1));
    await waitFor('the others are deleted', hangTimeoutMs(), async () => (await rowsOf(user)) === MAX_UNUSED);
    for (const code of ordered.slice(0, MAX_UNUSED)) expect((await exchange(service, code)).status).toBe(200);
  });

  it('leave no more rows than that, however many were issued', async () => {
    const earlier = await issued(MANY - MAX_UNUSED);
    const last = await issued(MAX_UNUSED);
    await waitFor(
      'void codes are deleted',
      hangTimeoutMs(),
      async () => (await rowsOf(user)) <= 4 * MAX_UNUSED,
    );
    for (const code of last) expect((await exchange(service, code)).status).toBe(200);
    for (const code of [...earlier.filter((_, place) => place % 50 === 0), ...earlier.slice(-MAX_UNUSED)])
      expect(await exchange(service, code)).toMatchObject(invalidCode);
  });
});

describe('POST /api/auth/code/exchange', () => {
  it('turns a code into a token of the same user and another session', async () => {
    const answer = await exchange(service, await aCode(ada));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ token: aJwt });
    expect(decodeToken(answer.body.token).claims['sub']).toBe(ada.id);
    expect(sessionIdOf(answer.body)).not.toBe(sessionIdOf(ada));
    const me = await ada.as(answer.body.token).get('/api/me');
    expect(me.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [org] });
  });

  it('hands on how the login was made', async () => {
    const derived = sessionIdOf((await exchange(service, await aCode(ada))).body);
    const ids = [sessionIdOf(ada), derived];
    const sql = 'SELECT id, amr, service, bound_epoch FROM sessions WHERE id IN (?, ?)';
    const expected = ids.map((id) => ({ id, amr: 'pwd', service: null, bound_epoch: null }));
    expect(await service.db.query(sql, ids)).toEqual(expect.arrayContaining(expected));
  });

  it('answers every invalid code alike', async () => {
    const used = await aCode(ada);
    await exchange(service, used);
    const expired = await aCode(ada);
    await service.db.query('UPDATE authorization_codes SET expires_at = ? WHERE session_id = ?', [
      Date.now() - 1,
      sessionIdOf(ada),
    ]);
    const shaped = ['A'.repeat(43), '+'.repeat(43), 'A'.repeat(42), 'A'.repeat(44), 'x'.repeat(9000)];
    const others = ['x', '', ' ', 'a\u0000b', '\ud800', "' OR 1=1 --"];
    const bodies = [];
    for (const code of [used, expired, ...shaped, ...others]) {
      const answer = await exchange(service, code);
      expect(answer, code.slice(0, 50)).toMatchObject(invalidCode);
      bodies.push(JSON.stringify({ ...answer.body, requestId: 'any' }));
    }
    expect(new Set(bodies).size).toBe(1);
  });

  it.each([[undefined], [null], [0], [1], [false], [true], [[]], [{}], [{ code: 1 }], [{ $gt: '' }]])(
    'refuses a code of another type: %j',
    async (code) => {
      expect(await exchange(service, code)).toMatchObject(invalidFields('code'));
    },
  );

  it('rejects text that is only similar to a code', async () => {
    const code = await aCode(ada);
    const around = [[code], { code }, ` ${code}`, `${code} `, `${code}\n`, `${code}=`];
    const altered = [
      code.toLowerCase(),
      code.toUpperCase(),
      code.slice(0, -1),
      encodeURIComponent(`${code}%`),
    ];
    for (const other of [...around, ...altered])
      expect([other, (await exchange(service, other)).status]).toEqual([other, 400]);
    const inQuery = await service.anyone.post(`/api/auth/code/exchange?code=${code}`, {});
    expect(inQuery).toMatchObject(invalidFields('query'));
    expect((await exchange(service, code)).status).toBe(200);
  });

  it('accepts neither a token as a code nor a code as a token', async () => {
    expect(await exchange(service, ada.token)).toMatchObject(invalidCode);
    expect(await isAlive(ada.as(await aCode(ada)))).toBe(false);
  });

  it.each([
    ['the session that issued it is revoked', 'UPDATE sessions SET revoked_at = 1 WHERE user_id = ?'],
    ['the user is gone', 'DELETE FROM users WHERE id = ?'],
  ])('refuses a code once %s', async (_what, end) => {
    const grace = await anAccount(service, 'grace');
    const code = await aCode(grace);
    await service.db.query(end, [grace.id]);
    expect(await exchange(service, code)).toMatchObject(invalidCode);
  });

  it('keeps two codes of one user independent', async () => {
    const [one, two] = [await aCode(ada), await aCode(ada)];
    expect((await exchange(service, two)).status).toBe(200);
    expect((await exchange(service, one)).status).toBe(200);
  });

  it('needs no token, and ignores a wrong one', async () => {
    const wrong = { anyone: service.anyone.withToken('a.b.c') };
    expect((await exchange(wrong, await aCode(ada))).status).toBe(200);
  });
});

describe('a code with a proof key (RFC 7636)', () => {
  const verify = (code: string, codeVerifier: unknown) => exchange(service, code, { codeVerifier });

  it('is exchanged with the verifier', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const answer = await verify(code, verifier);
    expect(answer.status, answer.text).toBe(200);
    expect(await isAlive(ada.as(answer.body.token))).toBe(true);
  });

  it('is refused without the verifier or with a wrong one, and not consumed', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const near = [challenge, verifier.toLowerCase(), `${verifier} `];
    for (const wrong of [undefined, '', 'x', 'x'.repeat(43), ...near])
      expect(await verify(code, wrong), `verifier ${wrong}`).toMatchObject(invalidCode);
    expect((await verify(code, verifier)).status).toBe(200);
  });

  it.each([[null], [0], [true], [['x']], [{}]])(
    'refuses a verifier of another type: %j',
    async (verifier) => {
      const { code } = await aBoundCode(ada);
      expect(await verify(code, verifier)).toMatchObject(invalidFields('codeVerifier'));
    },
  );

  it('refuses a verifier for a code that was issued without a challenge', async () => {
    const code = await aCode(ada);
    expect(await verify(code, randomBytes(32).toString('base64url'))).toMatchObject(invalidCode);
    expect((await exchange(service, code)).status).toBe(200);
  });
});

const NO_SECRET_OF_ANYBODY = `acs_${'A'.repeat(43)}`;

/** The routes of this service that take a token for another one. */
const OPEN_TO_BOUND_TOKENS = [
  'GET /api/me',
  'GET /api/me/orgs',
  'GET /api/orgs/{orgId}',
  'GET /api/orgs/{orgId}/members',
  'GET /api/orgs/{orgId}/members/{userId}',
  'POST /api/auth/logout',
];

const other = cluster.instances.at(-1)!;
const ada = await anAccount(service, 'ada');
const org = await anOrgOf(ada);
const [billing, reports] = [await aServiceClient(cluster.db), await aServiceClient(cluster.db)];

const sessionsOf = async (account: Account) => {
  type Listed = { sessions: { id: string; via: string; service: string | null }[] };
  return (await account.get<Listed>('/api/me/sessions')).body.sessions;
};

describe('a code for one service', () => {
  async function aCodeFor({ name }: ServiceClient, of = ada, pkce: object = {}): Promise<string> {
    return (await bodyOf(of.post<{ code: string }>('/api/auth/code', { ...pkce, audience: name }), 201)).code;
  }

  const redeem = (code: string, authorization?: string, codeVerifier?: string, at = service) => {
    const headers = authorization === undefined ? undefined : { authorization };
    return exchange({ anyone: at.anyone.with({ ...headers }) }, code, { codeVerifier });
  };

  const aTokenFor = async (client: ServiceClient, of = ada) =>
    (await bodyOf(redeem(await aCodeFor(client, of), client.authorization))).token;

  it('is issued with its expiry, and repeats the service; one without stays as it was', async () => {
    const before = Date.now();
    const bound = await ada.post('/api/auth/code', { audience: billing.name });
    expect(bound).toMatchObject({ status: 201 });
    expect(bound.body).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      audience: billing.name,
    });
    const { expiresAt } = bound.body as { expiresAt: string };
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(before + 60_000);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 60_000);
    const plain = await ada.post('/api/auth/code', {});
    expect(plain.body).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/) });
  });

  it.each([
    ['no service', 'no-such-service'],
    ['text that no service can have', 'Billing'],
    ['an empty text', ''],
    ['a text of 41 characters', 'a'.repeat(41)],
    ['a control character', 'billing\u0000'],
    ['a number', 7],
    ['null', null],
    ['a list', ['billing']],
    ['the value of JWT_AUDIENCE', 'accounts'],
  ])('is not issued for %s', async (_what, audience) => {
    expect(await ada.post('/api/auth/code', { audience })).toMatchObject(invalidFields('audience'));
  });

  it('is not issued for a service that is disabled', async () => {
    const disabled = await aServiceClient(cluster.db);
    await disabled.disable();
    expect(await ada.post('/api/auth/code', { audience: disabled.name })).toMatchObject(
      invalidFields('audience'),
    );
  });

  it('becomes a token for that service, and names it in the list of sessions', async () => {
    const { claims } = decodeToken(await aTokenFor(billing));
    expect(claims).toMatchObject({ aud: billing.name, client_id: billing.name, sub: ada.id });
    const sessions = await sessionsOf(ada);
    const bound = { via: 'code', service: billing.name };
    expect(sessions.find(({ id }) => id === claims['sid'])).toMatchObject(bound);
    expect(sessions.find(({ via }) => via === 'password')).toMatchObject({ service: null });
  });

  it('is refused by one text, which also names a missing secret and a missing verifier', async () => {
    const [code, { code: withChallenge, verifier }] = [await aCodeFor(billing), await aBoundCode(ada)];
    const unknown = code.replace(/./, (first) => (first === 'A' ? 'B' : 'A'));
    const answers = [
      await redeem(unknown, billing.authorization),
      await redeem(code),
      await redeem(code, basic(billing.name, '')),
      await exchange(service, withChallenge),
      await exchange(service, withChallenge, { code_verifier: verifier }),
    ];
    for (const answer of answers) expect(answer).toMatchObject(invalidCode);
    const details = new Set(answers.map(({ body }) => (body as { detail?: string }).detail));
    expect([...details]).toEqual([
      expect.stringMatching(
        /lacks .* a secret of its service in the Authorization header, or its codeVerifier/,
      ),
    ]);
  });

  it('is neither used nor revoked by the wrong service, by nobody and by wrong credentials', async () => {
    const code = await aCodeFor(billing);
    for (let round = 0; round < 25; round += 1) {
      expect(await redeem(code, reports.authorization)).toMatchObject(invalidCode);
      expect(await redeem(code)).toMatchObject(invalidCode);
      expect(await redeem(code, basic(billing.name, NO_SECRET_OF_ANYBODY))).toMatchObject(invalidClient);
      expect(await redeem(code, basic(reports.name, billing.secret))).toMatchObject(invalidClient);
    }
    const right = await redeem(code, billing.authorization, undefined, other);
    expect(right).toMatchObject({ status: 200, body: { token: aJwt } });
    expect(await redeem(code, reports.authorization)).toMatchObject(invalidCode);
    expect(await redeem(code)).toMatchObject(invalidCode);
    expect((await service.anyone.withToken(right.body.token).get('/api/me')).status).toBe(200);
  });

  it('is found to be used again by its own service alone, which then loses what it opened', async () => {
    const code = await aCodeFor(billing);
    const { token } = (await redeem(code, billing.authorization)).body;
    expect(await redeem(code, billing.authorization)).toMatchObject(invalidCode);
    expect(await service.anyone.withToken(token).get('/api/me')).toMatchObject(invalidToken);
  });

  it('needs its verifier, too, where it has a challenge', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
    const code = await aCodeFor(billing, ada, { codeChallenge, codeChallengeMethod: 'S256' });
    expect(await redeem(code, billing.authorization)).toMatchObject(invalidCode);
    expect(await redeem(code, undefined, verifier)).toMatchObject(invalidCode);
    expect(await redeem(code, billing.authorization, verifier)).toMatchObject({ status: 200 });
  });

  it('lets one of 50 exchanges at once open a session, on all instances, beside the wrong service', async () => {
    for (let round = 0; round < 5; round += 1) {
      const code = await aCodeFor(billing);
      const answers = await atOnce(
        times(50, (client) => () => {
          const at = cluster.instances[client % cluster.instances.length]!;
          const { authorization } = client % 5 === 0 ? reports : billing;
          return redeem(code, authorization, undefined, at);
        }),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const answer of refused) expect(answer).toMatchObject(invalidCode);
      expect(new Set(refused.map(({ body }) => JSON.stringify({ ...body, requestId: '' }))).size).toBe(1);
    }
  });

  it('opens nothing here but what its service needs', async () => {
    const bound = service.anyone.withToken(await aTokenFor(billing));
    const { body } = await service.anyone.get<{
      paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
    }>('/openapi.json');
    const routes = Object.entries(body.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { security = [] }]) => security.some((scheme) => 'bearer' in scheme))
        .map(([method]) => ({ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path })),
    );
    expect(routes.length).toBeGreaterThan(25);
    const open: string[] = [];
    for (const { name, method, path } of routes) {
      const url = path.replace('{orgId}', org.id).replaceAll(/\{\w+\}/g, ada.id);
      if (OPEN_TO_BOUND_TOKENS.includes(name)) {
        open.push(name);
        continue;
      }
      const answer = await bound.sendJson(method, url, method === 'GET' ? undefined : {});
      expect(answer, name).toMatchObject(boundTokenRefused);
      expect(answer.headers.get('www-authenticate'), name).toBe('Bearer error="insufficient_scope"');
    }
    expect(open.toSorted()).toEqual(OPEN_TO_BOUND_TOKENS);
    for (const path of ['/api/me', '/api/me/orgs', `/api/orgs/${org.id}`, `/api/orgs/${org.id}/members`])
      expect((await bound.get(path)).status, path).toBe(200);
    expect((await bound.get(`/api/orgs/${org.id}/members/${ada.id}`)).status).toBe(200);
    expect((await bound.post('/api/auth/logout', {})).status).toBe(200);
    expect(await bound.get('/api/me')).toMatchObject(invalidToken);
  });

  it('is worth nothing once its service is disabled, and what it opened ends for good', async () => {
    const shop = await aServiceClient(cluster.db);
    const [unused, token] = [await aCodeFor(shop), await aTokenFor(shop)];
    const plain = await redeem(await aCode(ada), shop.authorization);
    await shop.disable();
    expect(await redeem(unused, shop.authorization, undefined, other)).toMatchObject(invalidClient);
    expect(await other.anyone.withToken(token).get('/api/me')).toMatchObject(invalidToken);
    expect((await other.anyone.withToken(plain.body.token).get('/api/me')).status).toBe(200);
    await shop.enable();
    expect(await service.anyone.withToken(token).get('/api/me')).toMatchObject(invalidToken);
    expect((await sessionsOf(ada)).map(({ id }) => id)).not.toContain(sessionIdOf({ token }));
    expect((await service.anyone.withToken(await aTokenFor(shop)).get('/api/me')).status).toBe(200);
  });

  it('leaves nothing behind where its exchange waits while the sessions of its service are ended', async () => {
    const [shop, grace] = [await aServiceClient(cluster.db), await anAccount(service, 'grace')];
    // Otherwise the note that the secret was used would wait, too.
    await aTokenFor(shop, grace);
    const code = await aCodeFor(shop, grace);
    const held = await holdRows(service);
    await held.write('UPDATE services SET epoch = epoch + 1 WHERE name = ?', [shop.name]);
    // A new session waits for the row of its user on a server.
    await held.write('UPDATE users SET revision = revision WHERE id = ?', [grace.id]);
    const exchanging = redeem(code, shop.authorization);
    await held.untilOneWaits();
    await held.commit();
    const { body } = await exchanging;
    expect(await other.anyone.withToken(body.token ?? '').get('/api/me')).toMatchObject(invalidToken);
  });

  it('is exchanged with either of two secrets, and no longer with a revoked one', async () => {
    const shop = await aServiceClient(cluster.db);
    const second = await shop.rotate();
    expect((await redeem(await aCodeFor(shop), shop.authorization)).status).toBe(200);
    await shop.revoke(shop.secret);
    const code = await aCodeFor(shop);
    expect(await redeem(code, shop.authorization, undefined, other)).toMatchObject(invalidClient);
    expect((await redeem(code, basic(shop.name, second))).status).toBe(200);
  });
});

describe('a plain code', () => {
  const exchangeAs = (authorization: string, code: string) =>
    exchange({ anyone: service.anyone.with({ authorization }) }, code);

  it.each([
    ['a password of somebody else', basic('proxy', 'a password')],
    ['a token', 'Bearer a.b.c'],
    ['what is no base64', 'Basic %%%'],
    ['a scheme alone', 'Basic'],
    ['a name without a password', basic('billing', '')],
  ])('is exchanged beside an Authorization header with %s', async (_what, authorization) => {
    const { status, body } = await exchangeAs(authorization, await aCode(ada));
    expect(status).toBe(200);
    expect(decodeToken(body.token).claims['aud']).toBe('accounts');
  });

  it('that a service exchanges with its credentials opens a full session, which names the service', async () => {
    const { status, body } = await exchangeAs(billing.authorization, await aCode(ada));
    expect(status).toBe(200);
    const { claims } = decodeToken(body.token);
    expect(claims['aud']).toBe('accounts');
    expect((await sessionsOf(ada)).find(({ id }) => id === claims['sid'])?.service).toBe(billing.name);
    expect((await service.anyone.withToken(body.token).post('/api/auth/code', {})).status).toBe(201);
  });

  it.each([
    ['is another', () => NO_SECRET_OF_ANYBODY],
    ['is cut', () => billing.secret.slice(0, -1)],
    ['ends with a line break', () => `${billing.secret}\n`],
    ['is longer than any', () => billing.secret.repeat(90)],
    ['has a % that encodes nothing', () => `${billing.secret}%`],
    ['has only its beginning', () => 'acs_'],
  ])('is not used up by a secret that %s', async (_what, secret) => {
    const code = await aCode(ada);
    expect(await exchangeAs(basic(billing.name, secret()), code)).toMatchObject(invalidClient);
    expect((await exchange(service, code)).status).toBe(200);
  });
});

it('the exchange of a plain code by a service with credentials takes two statements', async () => {
  const data = await openDataLayer();
  const [context, executed] = [await wired(data), recordStatements(data.dataSource)];
  const codes = context.get(CodesService, { strict: false });
  const [id, now] = [anUnknownId(), Date.now()];
  await insertRow(data.db, 'users', { id });
  const lifetime = { auth_time: now, created_at: now, expires_at: now + 900_000 };
  await insertRow(data.db, 'sessions', { id, user_id: id, ...lifetime });
  const { code } = await codes.issue(id, {});
  executed.length = 0;
  const origin = { requestId: 'a-test', address: '127.0.0.1', userAgent: null };
  const caller = { kind: 'service', name: 'shop', allow: [], epoch: 0 } as const;
  expect(await codes.exchange({ code }, caller, origin)).toMatchObject({ token: aJwt });
  const sent = executed.map(({ verb, sql }) => [verb, /(?:FROM|INTO) (\w+)/.exec(sql)![1]]);
  await data.close();
  expect(sent).toEqual([
    ['SELECT', 'authorization_codes'],
    ['INSERT', 'sessions'],
  ]);
});
