import { beforeAll, describe, expect, it } from 'vitest';
import { invalidCredentials, invalidSecondFactorCode } from '../support/expected.js';
import { anInvitation } from '../support/inviting.js';
import {
  type Account,
  anAccount,
  anAccountOf,
  anEmail,
  anOrgOf,
  anUnknownId,
  aPassword,
  isAlive,
  logIn,
} from '../support/personas.js';
import { aRefreshableLogin, refresh } from '../support/refreshing.js';
import { insertProvider } from '../support/provider-rows.js';
import { aChallenge, protect } from '../support/second-factor.js';
import { startService } from '../support/service.js';

const service = await startService();
const { db, anyone } = service;

const aProvider = ({
  domain,
  user,
  required: must = 1,
}: {
  domain?: string;
  user?: Account;
  required?: 0 | 1;
}) => insertProvider(db, { domain, users: user ? [user.id] : [], required: must });

const aDomain = (): string => `d${anUnknownId().slice(-12)}.example`;
const anEmailAt = (domain: string): string => anEmail().replace(/@.*/, `@${domain}`);
const required = (provider: string) => ({
  status: 403,
  body: { status: 403, code: 'provider_login_required', provider },
});

/** Registered before the domain belonged to a provider. */
async function aUserOf(domain: string): Promise<Account> {
  return anAccountOf(service, anEmailAt(domain));
}

describe('a login with the password', () => {
  it('names the provider of the domain, after the right password only', async () => {
    const domain = aDomain();
    const user = await aUserOf(domain);
    const { name } = await aProvider({ domain });
    expect(await logIn(service, user)).toMatchObject(required(name));
    const wrong = await logIn(service, { email: user.email, password: aPassword() });
    const unknown = await logIn(service, { email: anEmailAt(domain), password: aPassword() });
    expect(wrong).toMatchObject(invalidCredentials);
    const { requestId: _, ...body } = wrong.body as { requestId?: string };
    expect(unknown).toMatchObject({ status: wrong.status, body });
  });

  it('follows the provider: required, disabled and removed ones, from one request to the next', async () => {
    const domain = aDomain();
    const user = await aUserOf(domain);
    const { id, name } = await aProvider({ domain, required: 0 });
    const loggedIn = async () => (await logIn(service, user)).status === 200;
    expect(await loggedIn()).toBe(true);
    await db.query('UPDATE providers SET required = 1 WHERE id = ?', [id]);
    expect(await logIn(service, user)).toMatchObject(required(name));
    await db.query('UPDATE providers SET disabled_at = 1 WHERE id = ?', [id]);
    expect(await loggedIn()).toBe(true);
    await db.query('UPDATE providers SET disabled_at = NULL WHERE id = ?', [id]);
    expect(await loggedIn()).toBe(false);
    await db.query('DELETE FROM provider_domains WHERE provider_id = ?', [id]);
    expect(await loggedIn()).toBe(true);
  });

  it('concerns the whole domain, and no other one', async () => {
    const domain = aDomain();
    const others = [`sub.${domain}`, `x${domain}`, `${domain}.example`];
    const users = await Promise.all(others.map(aUserOf));
    await aProvider({ domain });
    for (const user of users) expect((await logIn(service, user)).status).toBe(200);
  });

  it('is refused to a user with an identity, whatever email they have now', async () => {
    const user = await anAccount(service);
    const { id, name } = await aProvider({ domain: aDomain(), user });
    expect(await logIn(service, user)).toMatchObject(required(name));
    await db.query('UPDATE providers SET required = 0 WHERE id = ?', [id]);
    expect((await logIn(service, user)).status).toBe(200);
  });

  it('names the provider that has the domain, of two', async () => {
    const domain = aDomain();
    const user = await aUserOf(domain);
    const first = await aProvider({ user });
    expect(await logIn(service, user)).toMatchObject(required(first.name));
    const second = await aProvider({ domain });
    expect(await logIn(service, user)).toMatchObject(required(second.name));
  });

  it('leaves the sessions of before as they are', async () => {
    const domain = aDomain();
    const user = await aUserOf(domain);
    const { refreshToken } = await aRefreshableLogin(service, user);
    await aProvider({ domain });
    expect(await isAlive(user)).toBe(true);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    const change = { currentPassword: user.password, newPassword: aPassword() };
    expect((await user.put('/api/me/password', change)).status).toBe(200);
  });
});

describe('the second step of a login', () => {
  const secondStep = (challenge: string, code: string) =>
    anyone.post('/api/auth/login/second-factor', { challenge, code });

  it('is refused before the code, which stays unused', async () => {
    const domain = aDomain();
    const user = await aUserOf(domain);
    const { app } = await protect(service, user);
    const challenge = await aChallenge(service, user);
    const { id, name } = await aProvider({ domain });
    const code = app.next();
    expect(await secondStep(challenge, app.wrong())).toMatchObject(required(name));
    expect(await secondStep(challenge, code)).toMatchObject(required(name));
    expect(await logIn(service, user)).toMatchObject(required(name));
    await db.query('UPDATE providers SET disabled_at = 1 WHERE id = ?', [id]);
    expect((await secondStep(challenge, code)).status).toBe(200);
  });

  it('lets operators with two-factor authentication in, and no other operator', async () => {
    const domain = aDomain();
    const user = await aUserOf(domain);
    await db.query('UPDATE users SET operator_since = 1 WHERE id = ?', [user.id]);
    const { name } = await aProvider({ domain });
    expect(await logIn(service, user)).toMatchObject(required(name));
    const { app } = await protect(service, user);
    const challenge = await aChallenge(service, user);
    expect(await secondStep(challenge, app.wrong())).toMatchObject(invalidSecondFactorCode);
    expect((await secondStep(challenge, app.next())).status).toBe(200);
  });
});

describe('a registration', () => {
  const domain = aDomain();
  let known: Account;
  let name: string;
  beforeAll(async () => {
    known = await aUserOf(domain);
    ({ name } = await aProvider({ domain }));
  });
  const register = (email: string, invitationCode?: string) =>
    anyone.post('/api/auth/register', { email, password: aPassword(), invitationCode });

  it('is refused for an email of the domain, whether or not a user has it', async () => {
    const answers = [await register(known.email), await register(anEmailAt(domain).toUpperCase())];
    for (const answer of answers) expect(answer).toMatchObject(required(name));
    const [one, other] = answers.map(({ text }) => text.replace(/"requestId":"[^"]*"/, ''));
    expect(one).toBe(other);
  });

  it('is refused with an invitation, too, and uses no try of its code', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const email = anEmailAt(domain);
    const { code } = await anInvitation(owner, org, { email });
    expect(await register(email, code)).toMatchObject(required(name));
    await db.query('UPDATE providers SET disabled_at = 1 WHERE name = ?', [name]);
    expect((await register(email, code)).status).toBe(201);
  });
});
