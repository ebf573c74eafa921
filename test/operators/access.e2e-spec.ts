import { describe, expect, it } from 'vitest';
import { allRows, insertRow } from '../support/rows.js';
import type { Answer } from '../support/answer.js';
import type { Caller } from '../support/caller.js';
import { declaredRoutes } from '../support/declared-routes.js';
import {
  boundTokenRefused,
  type ExpectedProblem,
  insufficientUserAuthentication,
  invalidToken,
  notFound,
  operatorRequired,
  unauthorized,
} from '../support/expected.js';
import { insertApiKey } from '../support/api-keys.js';
import { insertConfirmed } from '../support/at-providers.js';
import { anInvitation } from '../support/inviting.js';
import { anOperator, makeOperator, showSecondFactor } from '../support/operators.js';
import { aCode, anAccount, anEmail, anOrg, anUnknownId, byCode, join } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { aRefreshableLogin } from '../support/refreshing.js';
import { aBoundToken, aServiceCaller, aServiceClient } from '../support/services.js';
import { startService } from '../support/service.js';
import { ServedPage } from '../openapi/served-page.js';

const HOUR_MS = 3_600_000;

const routes = (await declaredRoutes())
  .filter(({ path }) => path.startsWith('/api/operators/'))
  .map(({ method, path, access }) => ({ at: `${method} ${path}`, method, path, access }));

const REFUSED: Record<string, ExpectedProblem> = {
  nobody: unauthorized,
  'a service': invalidToken,
  'a user': operatorRequired,
  'the owner of an organization, with a second factor': operatorRequired,
  'an operator without a second factor': insufficientUserAuthentication,
  'an operator with an old login': insufficientUserAuthentication,
  'an operator by a code': insufficientUserAuthentication,
  'an operator by a code for a service': boundTokenRefused,
  'somebody whom a shell revoked': operatorRequired,
};

const service = await startService();
const operator = await anOperator(service);
const { org, owner } = await anOrg(service);
const callers = await refusedCallers();

async function refusedCallers(): Promise<Record<string, Caller>> {
  const { db, anyone } = service;
  const [old, withoutFactor, revoked] = await Promise.all([
    anOperator(service),
    anAccount(service),
    anOperator(service),
  ]);
  await db.query('UPDATE sessions SET auth_time = auth_time - ? WHERE user_id = ?', [HOUR_MS, old.id]);
  await makeOperator(service, withoutFactor);
  await showSecondFactor(service, owner);
  await db.query('UPDATE users SET operator_since = NULL WHERE id = ?', [revoked.id]);
  const billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
  return {
    nobody: anyone,
    'a service': billing,
    'a user': await anAccount(service),
    'the owner of an organization, with a second factor': owner,
    'an operator without a second factor': withoutFactor,
    'an operator with an old login': old,
    'an operator by a code': await byCode(service, operator),
    'an operator by a code for a service': operator.as(await aBoundToken(billing, operator)),
    'somebody whom a shell revoked': revoked,
  };
}

describe('the routes of operators', () => {
  const ask = (caller: Caller, { method, path }: (typeof routes)[number]) =>
    caller.send(method, path.replace(':orgId', org.id).replaceAll(/:\w+/g, anUnknownId));

  it('are declared for operators', () => {
    expect(routes.length).toBeGreaterThan(0);
    expect(routes.filter(({ access }) => access?.to !== 'operators')).toEqual([]);
  });

  it.each(routes)('$at is refused to everybody else', async (route) => {
    for (const [who, expected] of Object.entries(REFUSED))
      expect(await ask(callers[who]!, route), who).toMatchObject(expected);
  });

  it.each(routes)('$at is open to an operator', async (route) => {
    const { status } = await ask(operator, route);
    expect([200, 400, 404]).toContain(status);
  });

  it('tell an operator how recent a login they want (RFC 9470)', async () => {
    const answer = await ask(callers['an operator with an old login']!, routes[0]!);
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_user_authentication", max_age=3600',
    );
  });
});

/** Columns that hold what proves something, or what it is compared with. */
const CONFIDENTIAL = /hash$|secret$/;
const CONFIDENTIAL_TABLES = [
  ...'api_keys authorization_codes idempotency_keys provider_logins providers recovery_codes'.split(' '),
  ...'second_factors service_secrets sessions users'.split(' '),
];
/** They show a code that sets a password, once. */
const SHOW_A_CODE = new Set(['POST /api/operators/users', 'POST /api/operators/users/:userId/reset-code']);

describe('what operators are shown', () => {
  /** Lists first, deletions last: each has something to show. */
  function rank(at: string): number {
    if (at.startsWith('GET')) return 0;
    if (at.endsWith('/remove')) return 2;
    return at.endsWith('/delete') ? 3 : 1;
  }

  async function stored(): Promise<string[]> {
    const tables = Object.entries(await allRows(service.db)).map(([table, rows]) => {
      const values = rows.flatMap((row) =>
        Object.entries(JSON.parse(row) as Record<string, unknown>)
          .filter(([column, value]) => CONFIDENTIAL.test(column) && typeof value === 'string')
          .map(([, value]) => value as string),
      );
      return [table, values] as const;
    });
    const filled = tables.filter(([, values]) => values.length > 0);
    expect(filled.map(([table]) => table).toSorted()).toEqual(CONFIDENTIAL_TABLES);
    return filled.flatMap(([, values]) => values);
  }

  it('holds no hash, secret, token or code, but for the code that an operator asks for', async () => {
    const { account, app, recoveryCodes } = await protect(service, await anAccount(service));
    await join(org, owner, account, 'member');
    const invitation = await anInvitation(owner, org, { email: anEmail() });
    const { name, secret } = await aServiceClient(service.db);
    const provider = { id: anUnknownId(), name, secret: 'encrypted at a provider' };
    await insertRow(service.db, 'providers', provider);
    const login = await insertConfirmed(service, provider, { subject: 'ada', email: account.email });
    const { id: keyId, key } = await insertApiKey(service, account, { name });
    await owner.with({ 'idempotency-key': anUnknownId() }).post('/api/orgs', { name: 'Keyed' });
    const mailId = anUnknownId();
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, ended_at)
        VALUES (?, 'password_changed', ?, 'failed', 1, 1, 1)`,
      [mailId, account.email],
    );
    const secrets = [
      ...[operator, owner, account].flatMap(({ password, token }) => [password, token]),
      (await byCode(service, account)).token,
      (await aRefreshableLogin(service, owner)).refreshToken,
      app.secret,
      ...recoveryCodes,
      secret,
      key,
      login.code,
      invitation.code,
      await aCode(account),
      ...(await stored()),
    ];
    const { name: to } = await aServiceClient(service.db);
    const ids: Record<string, string> = { userId: account.id, orgId: org.id, name, to, mailId, keyId };

    for (const { method, path, at } of routes.toSorted((one, other) => rank(one.at) - rank(other.at))) {
      const target = path.replaceAll(/:(\w+)/g, (_, parameter: string) => ids[parameter]!);
      const { status, text, body }: Answer =
        method === 'GET'
          ? await operator.send('GET', target)
          : await operator.sendJson(method, target, {
              userId: account.id,
              email: anEmail(),
              role: 'admin',
              to,
              reason: 'a test',
            });
      expect(method === 'GET' ? [200] : [200, 201, 409], `${at}: ${text}`).toContain(status);
      expect(
        secrets.filter((shown) => text.includes(shown)),
        at,
      ).toEqual([]);
      expect(Object.keys(body as object).includes('code') && status < 400, at).toBe(SHOW_A_CODE.has(at));
    }
  });
});

describe('with other settings', () => {
  it('a login by password alone is enough where the second factor is optional, as long as it is recent; one at a provider is not', async () => {
    const configured = await startService({
      env: { OPERATORS_SECOND_FACTOR: 'optional', OPERATORS_LOGIN_AGE: '10m' },
    });
    const granted = await anAccount(configured);
    await makeOperator(configured, granted);
    const path = `/api/operators/users/${anUnknownId()}/enable`;
    expect(await granted.post(path, { reason: 'a test' })).toMatchObject({ status: 404 });
    const atProvider = [];
    for (const amr of ['fed', 'fed otp']) {
      await configured.db.query('UPDATE sessions SET amr = ?', [amr]);
      atProvider.push((await granted.post(path, { reason: 'a test' })).status);
    }
    expect(atProvider).toEqual([401, 404]);
    await configured.db.query('UPDATE sessions SET auth_time = auth_time - 600000');
    const refused = await granted.post(path, { reason: 'a test' });
    await configured.stop();
    expect(refused).toMatchObject(insufficientUserAuthentication);
    expect(refused.headers.get('www-authenticate')).toMatch(/ max_age=600$/);
  });

  it('there are none with OPERATORS_API=off, for an operator either', async () => {
    const configured = await startService({ env: { OPERATORS_API: 'off' } });
    const granted = await anOperator(configured);
    for (const { method, path } of routes) {
      for (const headers of [{ authorization: `Bearer ${granted.token}` }, {}]) {
        // Not a caller of the tests, which knows these routes from the document.
        const answer = await fetch(configured.url + path.replaceAll(/:\w+/g, anUnknownId), {
          method,
          headers,
        });
        expect({ status: answer.status, body: await answer.json() }, path).toMatchObject(notFound);
      }
    }
    const { options } = await ServedPage.of(configured);
    expect(options.urls.map(({ name }) => name)).toEqual(['Clients', 'Services']);
    expect(await configured.anyone.get('/openapi/operators.json')).toMatchObject(notFound);
    const { text } = await configured.anyone.get('/openapi.json');
    await configured.stop();
    expect(text).not.toContain('/api/operators');
  });
});
