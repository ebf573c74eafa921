import { afterAll, describe, expect, it } from 'vitest';
import {
  type AddedProvider,
  addProvider,
  aDomain,
  aUserAt,
  confirmAt,
  emailAt,
  eventsOf,
  finishAt,
  ISSUER,
  logInAt,
} from '../support/at-providers.js';
import {
  accountDisabled,
  identityTaken,
  linkRequired,
  rateLimited,
  wrongPassword,
} from '../support/expected.js';
import { startMailing } from '../support/mailing.js';
import { type Account, anAccountOf, isAlive, logIn } from '../support/personas.js';
import { TestProvider } from '../support/provider.js';

const FAILED_LOGINS = 3;

const { service, mailServer } = await startMailing({
  JWT_ISSUER: ISSUER,
  RATE_LIMIT_FAILED_LOGINS: `${FAILED_LOGINS}/1h`,
});
const provider = await TestProvider.start();
afterAll(() => provider.stop());

const LINKS = { linkByEmail: true };

interface Linkable {
  acme: AddedProvider;
  ada: Account;
  subject: string;
}

/** A user with a password, and the same person at a provider. */
async function aLinkable(settings: object = {}, { isVerified = true } = {}): Promise<Linkable> {
  const domain = aDomain();
  const acme = await addProvider(service, provider, { domains: [domain], createUsers: true, ...settings });
  const ada = await anAccountOf(service, emailAt(domain));
  if (isVerified) await service.db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [ada.id]);
  return { acme, ada, subject: aUserAt(acme, ada.email) };
}

const identitiesOf = (userId: string) =>
  service.db.query('SELECT subject FROM identities WHERE user_id = ?', [userId]);

describe('with the password', () => {
  it('links the user once, whatever the settings say', async () => {
    const { acme, ada, subject } = await aLinkable();
    const confirmed = await confirmAt(service, acme, subject);
    expect(await finishAt(service, confirmed)).toMatchObject(linkRequired);
    expect(await finishAt(service, confirmed, { password: 'wrong' })).toMatchObject(wrongPassword);
    expect(await identitiesOf(ada.id)).toEqual([]);
    const linked = await finishAt(service, confirmed, { password: ada.password });
    expect(linked.body).toMatchObject({ user: { id: ada.id, email: ada.email } });

    expect((await logInAt(service, acme, subject)).id).toBe(ada.id);
    expect((await logIn(service, ada)).status).toBe(200);
    expect(await isAlive(ada)).toBe(true);
    const data = { provider: acme.name };
    expect((await eventsOf(service, ada.id)).slice(2)).toEqual([
      ['account.identity_linked', { ...data, via: 'password' }],
      ['session.started', { via: 'login', ...data }],
      ['session.started', { via: 'login', ...data }],
      ['session.started', { via: 'login' }],
    ]);
  });

  it('counts a wrong one in the trace of the user', async () => {
    const { acme, ada, subject } = await aLinkable();
    const confirmed = await confirmAt(service, acme, subject);
    await finishAt(service, confirmed, { password: 'wrong' });
    await expect
      .poll(async () => service.db.query('SELECT failures FROM login_traces WHERE user_id = ?', [ada.id]), {
        timeout: 30_000,
      })
      .toEqual([{ failures: 1 }]);
  });

  it('has the limit of failed logins with the email, but not where the user logs in', async () => {
    const { acme, ada, subject } = await aLinkable();
    for (let tries = 0; tries <= FAILED_LOGINS; tries += 1) {
      const confirmed = await confirmAt(service, acme, subject);
      expect(await finishAt(service, confirmed, { password: 'wrong' })).toMatchObject(wrongPassword);
    }
    const confirmed = await confirmAt(service, acme, subject);
    await service.db.query('UPDATE events SET ip = NULL WHERE user_id = ?', [ada.id]);
    expect(await finishAt(service, confirmed, { password: ada.password })).toMatchObject(rateLimited);
    expect(await logIn(service, ada)).toMatchObject(rateLimited);
  });

  it('counts no right one as a failed login', async () => {
    const { acme, ada, subject } = await aLinkable();
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    const confirmed = await confirmAt(service, acme, subject);
    for (let tries = 0; tries <= FAILED_LOGINS; tries += 1)
      expect(await finishAt(service, confirmed, { password: ada.password })).toMatchObject(accountDisabled);
  });

  it('verifies the email, since the provider has', async () => {
    const { acme, ada, subject } = await aLinkable(LINKS, { isVerified: false });
    const confirmed = await confirmAt(service, acme, subject);
    expect(await finishAt(service, confirmed)).toMatchObject(linkRequired);
    expect((await finishAt(service, confirmed, { password: ada.password })).status).toBe(200);
    expect((await ada.get('/api/me?include=profile')).status).toBe(200);
    const sql = 'SELECT email_verified_at IS NOT NULL AS verified FROM users WHERE id = ?';
    expect(await service.db.query(sql, [ada.id])).toEqual([{ verified: 1 }]);
    expect((await eventsOf(service, ada.id)).map(([type]) => type)).toContain('account.email_verified');
  });

  it('is no way for a user without one', async () => {
    const { acme, ada, subject } = await aLinkable();
    await service.db.query("UPDATE users SET password_hash = '!' WHERE id = ?", [ada.id]);
    const confirmed = await confirmAt(service, acme, subject);
    for (const password of ['!', ada.password])
      expect(await finishAt(service, confirmed, { password })).toMatchObject(wrongPassword);
  });
});

describe('by email', () => {
  it('links a user whose email Accounts has verified', async () => {
    const { acme, ada, subject } = await aLinkable(LINKS);
    const linked = await logInAt(service, acme, subject);
    expect(linked.id).toBe(ada.id);
    expect((await eventsOf(service, ada.id)).at(-2)).toEqual([
      'account.identity_linked',
      { provider: acme.name, via: 'email' },
    ]);
  });

  it.each([
    ['an email that Accounts has not verified', 'email_verified_at = NULL'],
    ['an operator', 'operator_since = 1'],
  ])('asks for the password of %s', async (_, change) => {
    const { acme, ada, subject } = await aLinkable(LINKS);
    await service.db.query(`UPDATE users SET ${change} WHERE id = ?`, [ada.id]);
    const confirmed = await confirmAt(service, acme, subject);
    expect(await finishAt(service, confirmed)).toMatchObject(linkRequired);
    expect((await finishAt(service, confirmed, { password: ada.password })).status).toBe(200);
  });

  it('gives a reused email to nobody', async () => {
    const { acme, ada, subject } = await aLinkable(LINKS);
    await logInAt(service, acme, subject);
    const successor = aUserAt(acme, ada.email);
    const confirmed = await confirmAt(service, acme, successor);
    expect(await finishAt(service, confirmed)).toMatchObject(identityTaken);
    expect(await finishAt(service, confirmed, { password: ada.password })).toMatchObject(identityTaken);
    expect(await identitiesOf(ada.id)).toEqual([{ subject }]);
  });

  it('links two providers to one user', async () => {
    const { acme, ada, subject } = await aLinkable(LINKS);
    await logInAt(service, acme, subject);
    const other = await addProvider(service, provider, { linkByEmail: true });
    const domain = ada.email.split('@')[1]!;
    await service.db.query('UPDATE provider_domains SET provider_id = ? WHERE domain = ?', [
      other.id,
      domain,
    ]);
    expect((await logInAt(service, other, aUserAt(other, ada.email))).id).toBe(ada.id);
    expect(await identitiesOf(ada.id)).toHaveLength(2);
    // The first one no longer speaks for the domain, and still knows the user.
    expect((await logInAt(service, acme, subject)).id).toBe(ada.id);
  });
});

it('tells the user by email which provider opens the account now', async () => {
  const { acme, ada, subject } = await aLinkable(LINKS);
  await logInAt(service, acme, subject);
  const mail = await mailServer.next(ada.email);
  expect(mail.subject).toContain('linked to a provider');
  expect(mail.text).toContain(`Title of ${acme.name}`);
});
