import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allRows } from '../support/all-rows.js';
import type { Answer } from '../support/answer.js';
import { declaredRoutes } from '../support/declared-routes.js';
import { anInvitation } from '../support/inviting.js';
import { anOperator } from '../support/operators.js';
import {
  type Account,
  aCode,
  anAccount,
  anEmail,
  anOrg,
  anUnknownId,
  byCode,
  join,
} from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { aServiceClient } from '../support/services.js';
import { type Service, startServiceWithoutLimits } from '../support/service.js';

const REASON = 'a test of what is shown';
/** Columns that hold what proves something, or what it is compared with. */
const CONFIDENTIAL = /hash$|secret$/;
const CONFIDENTIAL_TABLES = [
  'authorization_codes',
  'idempotency_keys',
  'recovery_codes',
  'second_factors',
  'service_secrets',
  'sessions',
  'users',
];
/** It shows a code that sets a password, once. */
const SHOWS_A_CODE = 'POST /api/operators/users/:userId/reset-code';

const routes = (await declaredRoutes())
  .filter(({ path }) => path.startsWith('/api/operators/'))
  .map(({ method, path }) => ({ at: `${method} ${path}`, method, path }))
  // Lists first, deletions last: each has something to show.
  .toSorted((one, other) => rank(one.at) - rank(other.at));

function rank(at: string): number {
  if (at.startsWith('GET')) return 0;
  return at.endsWith('/delete') ? 2 : 1;
}

describe('the routes of operators', () => {
  let service: Service;
  let operator: Account;
  let ids: Record<string, string>;
  let shown: string[];

  beforeAll(async () => {
    service = await startServiceWithoutLimits();
    operator = await anOperator(service);
    const { org, owner } = await anOrg(service);
    const { account, app, recoveryCodes } = await protect(service, await anAccount(service));
    await join(org, owner, account, 'member');
    const invitation = await anInvitation(owner, org, { email: anEmail() });
    const { name, secret } = await aServiceClient(service.db);
    const services = await byCode(service, account);
    const login = await service.anyone.post<{ refreshToken: string }>('/api/auth/login', {
      email: owner.email,
      password: owner.password,
      refresh: true,
    });
    const keyed = owner.with({ 'idempotency-key': anUnknownId() });
    await keyed.post('/api/orgs', { name: 'Keyed' });
    const mailId = anUnknownId();
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, ended_at)
        VALUES (?, 'password_changed', ?, 'failed', 1, 1, 1)`,
      [mailId, account.email],
    );
    ids = { userId: account.id, orgId: org.id, name, mailId };
    shown = [
      ...[operator, owner, account].flatMap(({ password, token }) => [password, token]),
      services.token,
      login.body.refreshToken,
      app.secret,
      ...recoveryCodes,
      secret,
      invitation.code,
      await aCode(account),
    ];
  });
  afterAll(() => service.stop());

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

  function ask({ method, path }: (typeof routes)[number]): Promise<Answer> {
    const at = path.replaceAll(/:(\w+)/g, (_, parameter: string) => ids[parameter]!);
    if (method === 'GET') return operator.send('GET', at);
    return operator.sendJson(method, at, { userId: ids['userId'], reason: REASON });
  }

  it('show no hash, secret, token or code, but for the code that an operator asks for', async () => {
    const secrets = [...shown, ...(await stored())];

    for (const route of routes) {
      const { status, text, body } = await ask(route);
      expect(route.method === 'GET' ? [200] : [200, 201, 409], `${route.at}: ${text}`).toContain(status);
      expect(
        secrets.filter((secret) => text.includes(secret)),
        route.at,
      ).toEqual([]);
      const holdsCode = Object.keys(body as object).includes('code') && status < 400;
      expect(holdsCode, route.at).toBe(route.at === SHOWS_A_CODE);
    }
  });
});
