import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { invalidCredentials, rateLimited, wrongPassword } from '../support/expected.js';
import { anAccountOf, anEmail, aPassword, type Account } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const LIMIT = 5;
const DAY_MS = 86_400_000;

describe('the limit of an account', () => {
  let service: Service;
  let ada: Account;
  let strangers = 0;

  beforeAll(async () => {
    service = await startService({
      env: { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_ACCOUNT: `${LIMIT}/1h`, RATE_LIMIT_LOGIN: '3/1h' },
    });
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    ada = await anAccountOf(service, anEmail('ada'));
  });

  const stranger = (): string => `203.0.113.${(strangers = (strangers % 250) + 1)}`;
  const login = (email: string, password: string, address: string): Promise<Answer> =>
    service.anyone.with({ 'x-forwarded-for': address }).post('/api/auth/login', { email, password });
  async function fail(email: string, count = LIMIT): Promise<void> {
    for (const address of times(count, stranger)) {
      expect(await login(email, aPassword(), address)).toMatchObject(invalidCredentials);
    }
  }

  it('counts failed logins from everywhere, and refuses strangers then, even with the password', async () => {
    await fail(ada.email);

    const refused = await login(ada.email, ada.password, stranger());

    expect(refused).toMatchObject(rateLimited);
    expect(refused.body).toMatchObject({ detail: expect.stringMatching(/this e-mail have failed/) });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  });

  it('lets an address through that logged in within 30 days, IPv6 by its network', async () => {
    const home = '2001:db8:7:8::1';
    expect((await login(ada.email, ada.password, home)).status).toBe(200);
    await fail(ada.email);

    expect((await login(ada.email, ada.password, '2001:db8:7:8:ffff::2')).status).toBe(200);
    expect(await login(ada.email, ada.password, '2001:db8:7:9::1')).toMatchObject(rateLimited);
    // The limit of the address and the e-mail holds there as everywhere.
    expect(await login(ada.email, aPassword(), home)).toMatchObject(invalidCredentials);
    expect(await login(ada.email, ada.password, home)).toMatchObject(rateLimited);
  });

  it('does not let an address through that logged in before that, or to another account', async () => {
    const [early, other] = ['198.51.100.1', '198.51.100.2'];
    await login(ada.email, ada.password, early);
    const [event] = await service.db.query('SELECT id FROM events WHERE user_id = ? AND ip = ?', [
      ada.id,
      early,
    ]);
    const month = (Date.now() - 31 * DAY_MS).toString(16).padStart(12, '0');
    const id = `${month.slice(0, 8)}-${month.slice(8)}${String(event!['id']).slice(13)}`;
    await service.db.query('UPDATE events SET id = ? WHERE id = ?', [id, String(event!['id'])]);
    const grace = await anAccountOf(service, anEmail('grace'));
    await login(grace.email, grace.password, other);
    await fail(ada.email);

    for (const address of [early, other]) {
      expect(await login(ada.email, ada.password, address)).toMatchObject(rateLimited);
    }
  });

  it('counts no login that succeeds', async () => {
    for (const address of times(LIMIT + 2, stranger)) {
      expect((await login(ada.email, ada.password, address)).status).toBe(200);
    }
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

  it('counts wrong passwords of somebody who is signed in', async () => {
    const wrong = (address: string) =>
      ada.with({ 'x-forwarded-for': address }).sendJson('PUT', '/api/me/password', {
        currentPassword: aPassword(),
        newPassword: aPassword(),
      });
    // Without the signed-in caller's own address, which is known.
    for (const address of times(LIMIT, stranger)) expect(await wrong(address)).toMatchObject(wrongPassword);
    expect(await wrong(stranger())).toMatchObject(rateLimited);
    expect(await login(ada.email, aPassword(), stranger())).toMatchObject(rateLimited);
  });

  it('asks the database no more once the address itself is refused', async () => {
    await fail(ada.email);
    const address = stranger();
    for (const _ of times(3, () => 0)) {
      const { body } = await login(ada.email, aPassword(), address);
      expect(body).toMatchObject({ detail: expect.stringMatching(/have failed/) });
    }
    const { body } = await login(ada.email, aPassword(), address);
    expect(body).toMatchObject({ detail: expect.stringMatching(/from your address/) });
  });
});
