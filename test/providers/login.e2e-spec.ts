import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AddedProvider,
  addProvider,
  aDomain,
  aSubject,
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
  invalidCode,
  invalidFields,
  invalidProviderLogin,
  providerEmailRefused,
  registrationClosed,
} from '../support/expected.js';
import { aCode, anAccount, exchange } from '../support/personas.js';
import { type ProviderUser, TestProvider } from '../support/provider.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const DAY_SECONDS = 86_400;
const SESSION_MAX_AGE_MS = 30 * DAY_SECONDS * 1000;

const service = await startService({ env: { JWT_ISSUER: ISSUER } });
const provider = await TestProvider.start();
const silent = await TestProvider.start({ namesAuthTime: false });
afterAll(async () => {
  provider.stop();
  silent.stop();
  await service.stop();
});

const domain = aDomain();
let acme: AddedProvider;
beforeAll(async () => {
  acme = await addProvider(service, provider, { domains: [domain], createUsers: true });
});

const aNewUser = (more: ProviderUser = {}) => aUserAt(acme, emailAt(domain), more);

const setUp = async (settings: Parameters<typeof addProvider>[2]): Promise<AddedProvider> => {
  const own = aDomain();
  return addProvider(service, provider, { domains: [own], ...settings });
};

describe('a first login at a provider', () => {
  it('creates a user with a verified email and without a password', async () => {
    const email = emailAt(domain);
    const subject = aUserAt(acme, email, { name: ' Ada  Lovelace ' });
    const ada = await logInAt(service, acme, subject);

    expect(ada.email).toBe(email);
    expect((await ada.get('/api/me/profile')).body).toMatchObject({ profile: { name: 'Ada  Lovelace' } });
    const [row] = await service.db.query('SELECT * FROM users WHERE id = ?', [ada.id]);
    expect(row).toMatchObject({ password_hash: '!', email_verified_at: expect.any(Number) as number });
    const data = { provider: acme.name };
    expect(await eventsOf(service, ada.id)).toEqual([
      ['account.registered', { via: 'provider', ...data }],
      ['account.identity_linked', { via: 'created', ...data }],
      ['session.started', { via: 'register', ...data }],
    ]);
  });

  it('leaves a name out that breaks the rules of profiles, and the email decides by its normalized form', async () => {
    const email = emailAt(domain);
    const subject = aUserAt(acme, email.toUpperCase(), { name: 'x'.repeat(101) });
    const ada = await logInAt(service, acme, subject);
    expect(ada.email).toBe(email);
    expect((await ada.get('/api/me/profile')).body).toMatchObject({ profile: { name: null } });
  });

  it('creates nobody while the provider may not, and keeps the code for a second try', async () => {
    const email = emailAt(domain);
    const own = aDomain();
    const closed = await addProvider(service, provider, { domains: [own] });
    const confirmed = await confirmAt(service, closed, aUserAt(closed, email.replace(/@.*/, `@${own}`)));
    expect(await finishAt(service, confirmed)).toMatchObject(registrationClosed);

    const settings = JSON.stringify({ createUsers: true });
    await service.db.query('UPDATE providers SET settings = ? WHERE id = ?', [settings, closed.id]);
    expect((await finishAt(service, confirmed)).status).toBe(200);
  });

  it.each([
    ['no email', {}],
    ['an email of another domain', { email: 'ada@other.example', email_verified: true }],
    ['one of a domain below', { email: `ada@mail.${domain}`, email_verified: true }],
    ['an email that is not verified', { email: `ada@${domain}`, email_verified: false }],
    ['an email of which it says nothing', { email: `ada@${domain}` }],
    ['no email, but text', { email: `ada@${domain}, eve@${domain}`, email_verified: true }],
  ])('is refused with %s', async (_, claims) => {
    const subject = acme.provider.addUser(aSubject(), claims);
    expect(await finishAt(service, await confirmAt(service, acme, subject))).toMatchObject(
      providerEmailRefused,
    );
    expect(await service.db.query('SELECT 1 FROM identities WHERE subject = ?', [subject])).toEqual([]);
  });

  it('takes an unverified email from a provider whose emails operators trust', async () => {
    const trusted = await setUp({ createUsers: true, trustEmails: true });
    const [row] = await service.db.query('SELECT domain FROM provider_domains WHERE provider_id = ?', [
      trusted.id,
    ]);
    const email = emailAt(String(row!['domain']));
    const ada = await logInAt(service, trusted, aUserAt(trusted, email, { email_verified: false }));
    expect(ada.email).toBe(email);
  });

  it('takes subjects that differ in case for two users', async () => {
    const subject = aSubject();
    const [one, other] = [emailAt(domain), emailAt(domain)];
    acme.provider.addUser(subject, { email: one, email_verified: true });
    acme.provider.addUser(subject.toUpperCase(), { email: other, email_verified: true });
    const ada = await logInAt(service, acme, subject);
    const grace = await logInAt(service, acme, subject.toUpperCase());
    expect([ada.email, grace.email]).toEqual([one, other]);
    expect((await logInAt(service, acme, subject)).id).toBe(ada.id);
  });
});

describe('a later login at the provider', () => {
  it('opens a session of the user, whatever became of the email and the name there', async () => {
    const subject = aNewUser({ name: 'Ada' });
    const first = await logInAt(service, acme, subject);
    acme.provider.addUser(subject, { email: 'gone@other.example', email_verified: false, name: 'Eve' });
    const later = await logInAt(service, acme, subject);

    expect([later.id, later.email]).toEqual([first.id, first.email]);
    expect((await later.get('/api/me/profile')).body).toMatchObject({ profile: { name: 'Ada' } });
    expect((await eventsOf(service, first.id)).at(-1)).toEqual([
      'session.started',
      { via: 'login', provider: acme.name },
    ]);
  });

  it('is refused while the user is disabled, in the trace of the user', async () => {
    const subject = aNewUser();
    const ada = await logInAt(service, acme, subject);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    const confirmed = await confirmAt(service, acme, subject);
    expect(await finishAt(service, confirmed)).toMatchObject(accountDisabled);
    await service.db.query('UPDATE users SET disabled_at = NULL WHERE id = ?', [ada.id]);
    expect((await finishAt(service, confirmed)).status).toBe(200);
  });
});

describe('the session', () => {
  it('says that a provider confirmed the user, and when', async () => {
    const at = Math.floor(Date.now() / 1000) - 1000;
    provider.authTime = at;
    const ada = await logInAt(service, acme, aNewUser());
    provider.authTime = undefined;
    expect(decodeToken(ada.token).claims).toMatchObject({ amr: ['fed'], auth_time: at });
  });

  it('has a refresh token if the program asks for one, and the name of the device', async () => {
    const confirmed = await confirmAt(service, acme, aNewUser());
    const { body } = await finishAt(service, confirmed, { refresh: true, deviceName: 'Laptop' });
    const refreshed = await service.anyone.post('/api/auth/refresh', { refreshToken: body.refreshToken });
    expect(refreshed.status).toBe(200);
    const sql = 'SELECT device_name FROM sessions WHERE user_id = ?';
    expect(await service.db.query(sql, [body.user.id])).toEqual([{ device_name: 'Laptop' }]);
  });

  it('is no recent login if the provider names no time', async () => {
    const own = aDomain();
    const quiet = await addProvider(service, silent, { domains: [own], createUsers: true });
    const ada = await logInAt(service, quiet, aUserAt(quiet, emailAt(own)));
    const age = Date.now() / 1000 - Number(decodeToken(ada.token).claims['auth_time']);
    expect(age).toBeGreaterThanOrEqual(DAY_SECONDS - 1);
    expect(age).toBeLessThan(DAY_SECONDS + 600);
  });
});

describe('finish', () => {
  it('creates no user whose session has already ended', async () => {
    const subject = aNewUser();
    const confirmed = await confirmAt(service, acme, subject);
    const authTime = Date.now() - SESSION_MAX_AGE_MS;
    await service.db.query('UPDATE provider_logins SET auth_time = ? WHERE subject = ?', [authTime, subject]);
    expect(await finishAt(service, confirmed)).toMatchObject(invalidProviderLogin);
    expect(await service.db.query('SELECT 1 FROM identities WHERE subject = ?', [subject])).toEqual([]);
  });

  it('works once', async () => {
    const confirmed = await confirmAt(service, acme, aNewUser());
    expect((await finishAt(service, confirmed)).status).toBe(200);
    expect(await finishAt(service, confirmed)).toMatchObject(invalidProviderLogin);
  });

  it('needs the verifier of the start, and counts no try without it', async () => {
    const confirmed = await confirmAt(service, acme, aNewUser());
    const other = await confirmAt(service, acme, aNewUser());
    for (let tries = 0; tries < 12; tries += 1)
      expect(await finishAt(service, { ...confirmed, codeVerifier: other.codeVerifier })).toMatchObject(
        invalidProviderLogin,
      );
    const { code } = confirmed;
    const without = await service.anyone.post('/api/auth/providers/finish', { code });
    expect(without).toMatchObject(invalidFields('codeVerifier'));
    expect((await finishAt(service, confirmed)).status).toBe(200);
  });

  it('answers the eleventh try as it answers an unknown code', async () => {
    const closed = await setUp({});
    const confirmed = await confirmAt(service, closed, aUserAt(closed, emailAt(domain)));
    for (let tries = 0; tries < 10; tries += 1)
      expect(await finishAt(service, confirmed)).toMatchObject(providerEmailRefused);
    const spent = await finishAt(service, confirmed);
    const unknown = await finishAt(service, { ...confirmed, code: 'x'.repeat(43) });
    const refusal = { ...(spent.body as object), requestId: '' };
    expect(spent).toMatchObject(invalidProviderLogin);
    expect({ ...(unknown.body as object), requestId: '' }).toEqual(refusal);
  });

  it('is refused once the provider is disabled, whoever logs in', async () => {
    const own = aDomain();
    const added = await addProvider(service, provider, { domains: [own], createUsers: true });
    const subject = aUserAt(added, emailAt(own));
    await logInAt(service, added, subject);
    const [known, unknown] = [
      await confirmAt(service, added, subject),
      await confirmAt(service, added, aUserAt(added, emailAt(own))),
    ];
    await service.db.query('UPDATE providers SET disabled_at = 1 WHERE id = ?', [added.id]);
    expect(await finishAt(service, known)).toMatchObject(invalidProviderLogin);
    expect(await finishAt(service, unknown)).toMatchObject(invalidProviderLogin);
  });

  it('expires a minute after the redirect, and five minutes after it once it was tried', async () => {
    const closed = await setUp({});
    const subject = aUserAt(closed, emailAt(domain));
    const [untried, tried] = [
      await confirmAt(service, closed, subject),
      await confirmAt(service, closed, subject),
    ];
    const age = async (seconds: number) =>
      service.db.query(
        'UPDATE provider_logins SET created_at = created_at - ?, expires_at = expires_at - ? WHERE provider_id = ?',
        [seconds * 1000, seconds * 1000, closed.id],
      );
    expect(await finishAt(service, tried)).toMatchObject(providerEmailRefused);
    await age(61);
    expect(await finishAt(service, untried)).toMatchObject(invalidProviderLogin);
    expect(await finishAt(service, tried)).toMatchObject(providerEmailRefused);
    await age(240);
    expect(await finishAt(service, tried)).toMatchObject(invalidProviderLogin);
  });

  it.each([
    [{ password: { $ne: '' } }, 'password'],
    [{ secondFactorCode: 123_456 }, 'secondFactorCode'],
    [{ code: ['x'] }, 'code'],
    [{ codeVerifier: null }, 'codeVerifier'],
  ])('refuses %j', async (more, field) => {
    const [code, codeVerifier] = ['x'.repeat(43), 'y'.repeat(43)];
    expect(await finishAt(service, { code, codeVerifier }, more)).toMatchObject(invalidFields(field));
  });

  it('takes no code of the exchange, and the exchange none of a provider login', async () => {
    const ada = await anAccount(service);
    const code = await aCode(ada);
    const codeVerifier = 'y'.repeat(43);
    expect(await finishAt(service, { code, codeVerifier })).toMatchObject(invalidProviderLogin);
    expect((await exchange(service, code)).status).toBe(200);

    const confirmed = await confirmAt(service, acme, aNewUser());
    const more = { codeVerifier: confirmed.codeVerifier };
    expect(await exchange(service, confirmed.code, more)).toMatchObject(invalidCode);
    expect((await finishAt(service, confirmed)).status).toBe(200);
  });

  it('takes a code of any length for an unknown one', async () => {
    const codeVerifier = 'y'.repeat(43);
    for (const code of ['x', 'x'.repeat(1000), `${'x'.repeat(42)}\0`])
      expect(await finishAt(service, { code, codeVerifier })).toMatchObject(invalidProviderLogin);
  });
});

describe('the configuration for clients', () => {
  it('lists enabled providers by title, only if asked', async () => {
    const titled = await addProvider(service, provider, {
      domains: ['b.example', 'a.example'],
      required: true,
    });
    const disabled = await addProvider(service, provider);
    await service.db.query("UPDATE providers SET title = 'AAA' WHERE id = ?", [titled.id]);
    await service.db.query('UPDATE providers SET disabled_at = 1 WHERE id = ?', [disabled.id]);

    const { body } = await service.anyone.get<{ providers: { name: string; title: string }[] }>(
      '/api/auth/config?include=logins',
    );
    expect(body).toMatchObject({ crossDeviceLogin: 'off' });
    const domains = ['a.example', 'b.example'];
    expect(body.providers[0]).toEqual({ name: titled.name, title: 'AAA', domains, required: true });
    expect(body.providers.map(({ name }) => name)).not.toContain(disabled.name);
    const titles = body.providers.map(({ title }) => title);
    expect(titles).toEqual(titles.toSorted());
    const plain = await service.anyone.get('/api/auth/config');
    expect(Object.keys(plain.body as object)).not.toContain('providers');
    expect(await service.anyone.get('/api/auth/config?include=providers')).toMatchObject(
      invalidFields('include'),
    );
  });
});
