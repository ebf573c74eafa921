import { beforeEach, describe, expect, it } from 'vitest';
import { DocumentReader } from '../openapi/documented.js';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { protect, SECOND_FACTOR } from '../support/second-factor.js';
import { invalidCredentials, rateLimited, secondFactorRequired, wrongPassword } from '../support/expected.js';
import { startMailing } from '../support/mailing.js';
import { type Account, anAccountOf, anEmail, aPassword, logIn, type Org } from '../support/personas.js';

const LIMIT = 5;
const DAY_MS = 86_400_000;

/** Where somebody who is signed in gives the password that they have. */
const COMPARED: [operationId: string, method: string, path: string, more: () => object, field?: string][] = [
  ['changePassword', 'PUT', '/api/me/password', () => ({ newPassword: aPassword() }), 'currentPassword'],
  ['requestEmailChange', 'PUT', '/api/me/email', () => ({ email: anEmail('new') })],
  ['deleteAccount', 'DELETE', '/api/me', () => ({})],
  ['enrollSecondFactor', 'POST', SECOND_FACTOR, () => ({})],
  ['renewRecoveryCodes', 'POST', `${SECOND_FACTOR}/recovery-codes`, () => ({ code: '123456' })],
  ['removeSecondFactor', 'POST', `${SECOND_FACTOR}/remove`, () => ({ code: '123456' })],
];

const limits = { RATE_LIMIT_FAILED_LOGINS: `${LIMIT}/1h`, RATE_LIMIT_LOGIN: '3/1h' };
const { service } = await startMailing({ TRUST_PROXY: '127.0.0.1', ...limits });

describe('the limit of an account', () => {
  let ada: Account;
  let strangers = 0;
  beforeEach(async () => {
    ada = await anAccountOf(service, anEmail('ada'));
  });

  const stranger = (): string => `203.0.113.${(strangers = (strangers % 250) + 1)}`;
  const login = (email: string, password: string, address: string): Promise<Answer> =>
    logIn({ anyone: service.anyone.with({ 'x-forwarded-for': address }) }, { email, password });
  async function fail(email: string, count = LIMIT): Promise<void> {
    for (const address of times(count, stranger))
      expect(await login(email, aPassword(), address)).toMatchObject(invalidCredentials);
  }

  it('counts failed logins from everywhere, and refuses strangers then, even with the password', async () => {
    await fail(ada.email);
    const refused = await login(ada.email, ada.password, stranger());
    expect(refused).toMatchObject(rateLimited);
    expect(refused.body).toMatchObject({ detail: expect.stringMatching(/failed logins with this email/) });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  });

  it('lets an address through that logged in within 30 days, IPv6 by its network', async () => {
    const home = '2001:db8:7:8::1';
    expect((await login(ada.email, ada.password, home)).status).toBe(200);
    await fail(ada.email);
    expect((await login(ada.email, ada.password, '2001:db8:7:8:ffff::2')).status).toBe(200);
    expect(await login(ada.email, ada.password, '2001:db8:7:9::1')).toMatchObject(rateLimited);
    // The limit of the address and the email holds there as everywhere.
    expect(await login(ada.email, aPassword(), home)).toMatchObject(invalidCredentials);
    expect(await login(ada.email, ada.password, home)).toMatchObject(rateLimited);
  });

  /** Moves what is recorded of an address. */
  async function age(address: string, days: number): Promise<void> {
    const sql = 'SELECT id FROM events WHERE user_id = ? AND ip = ?';
    const [event] = await service.db.query(sql, [ada.id, address]);
    const then = (Date.now() - days * DAY_MS).toString(16).padStart(12, '0');
    const id = `${then.slice(0, 8)}-${then.slice(8)}${String(event!['id']).slice(13)}`;
    await service.db.query('UPDATE events SET id = ? WHERE id = ?', [id, String(event!['id'])]);
  }

  it('lets an address through for 30 days, and none that logged in to another account', async () => {
    const [early, late, other] = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
    for (const address of [early, late]) await login(ada.email, ada.password, address);
    await age(early, 31);
    await age(late, 29);
    const grace = await anAccountOf(service, anEmail('grace'));
    await login(grace.email, grace.password, other);
    await fail(ada.email);
    for (const address of [early, other])
      expect(await login(ada.email, ada.password, address)).toMatchObject(rateLimited);
    expect((await login(ada.email, ada.password, late)).status).toBe(200);
  });

  it('does not let an address through from which a stranger added the user', async () => {
    const address = stranger();
    const owner = (await anAccountOf(service, anEmail('owner'))).with({ 'x-forwarded-for': address });
    const { body } = await owner.post<{ org: Org }>('/api/orgs', { name: 'A pretext' });
    const added = await owner.post(`/api/orgs/${body.org.id}/members`, { email: ada.email, role: 'member' });
    expect(added.status).toBe(201);
    const sql = 'SELECT type FROM events WHERE user_id = ? AND ip = ?';
    expect(await service.db.query(sql, [ada.id, address])).toEqual([{ type: 'member.added' }]);
    await fail(ada.email);
    expect(await login(ada.email, ada.password, address)).toMatchObject(rateLimited);
  });

  it('counts no login whose password was right, be it that it asks for a second factor', async () => {
    for (const address of times(LIMIT + 2, stranger))
      expect((await login(ada.email, ada.password, address)).status).toBe(200);
    await protect(service, ada);
    for (const address of times(LIMIT + 2, stranger))
      expect(await login(ada.email, ada.password, address)).toMatchObject(secondFactorRequired);
  });

  it('treats an e-mail without an account alike, header by header', async () => {
    const unknown = anEmail('nobody');
    const seen = [];
    for (const email of [ada.email, unknown]) {
      const answers: Answer[] = [];
      for (const address of times(LIMIT + 1, stranger))
        answers.push(await login(email, aPassword(), address));
      seen.push(
        answers.map(({ status, headers, body }) => [
          status,
          (body as { detail: string }).detail,
          headers.get('ratelimit-policy'),
          headers.get('ratelimit')?.replaceAll(/t=\d+/g, 't=…'),
        ]),
      );
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]!.map(([status]) => status)).toEqual([...times(LIMIT, () => 401), 429]);
  });

  it('holds for every field of a request that is compared with the password', async () => {
    const reader = await DocumentReader.of(service);
    const fields = reader.operations.flatMap(({ operationId, requestBody }) => {
      const { properties = {} } = reader.resolve(requestBody?.content['application/json']?.schema ?? {});
      return Object.keys(properties)
        .filter((name) => /password/i.test(name))
        .map((name) => `${operationId} ${name}`);
    });
    // What is not here sets a password: it tells nothing about the one that there is.
    const setting = new Set(['changePassword newPassword', 'register password', 'resetPassword newPassword']);
    expect(fields.filter((field) => !setting.has(field)).toSorted()).toEqual(
      [
        'login password',
        // test/providers/linking.e2e-spec.ts compares this one.
        'finishProviderLogin password',
        ...COMPARED.map(([operationId, , , , field = 'password']) => `${operationId} ${field}`),
      ].toSorted(),
    );
  });

  const inDryRun: (typeof COMPARED)[number] = ['deleteAccount', 'DELETE', '/api/me?dryRun=true', () => ({})];
  it.each([...COMPARED, inDryRun])(
    'holds for %s: %s %s',
    async (_id, method, path, more, field = 'password') => {
      // Without the signed-in caller's own address, which is known.
      const attempt = (password: string) =>
        ada.with({ 'x-forwarded-for': stranger() }).sendJson(method, path, { ...more(), [field]: password });
      for (const _ of times(LIMIT, () => 0)) expect(await attempt(aPassword())).toMatchObject(wrongPassword);
      expect(await attempt(ada.password)).toMatchObject(rateLimited);
      expect(await login(ada.email, ada.password, stranger())).toMatchObject(rateLimited);
    },
  );

  it('asks the database no more once the address itself is refused', async () => {
    await fail(ada.email);
    const address = stranger();
    for (const _ of times(3, () => 0)) {
      const { body } = await login(ada.email, aPassword(), address);
      expect(body).toMatchObject({ detail: expect.stringMatching(/failed logins/) });
    }
    const { body } = await login(ada.email, aPassword(), address);
    expect(body).toMatchObject({ detail: expect.stringMatching(/from your IP address/) });
  });
});
