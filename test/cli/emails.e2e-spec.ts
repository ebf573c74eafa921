import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { invalidCode, invalidCredentials } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { type Account, anAccount, anEmail, anOrgOf, aPassword } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { startOwnService } from '../support/service.js';

const BY_ROOT = ['--as', 'root', '--reason', 'a test'];

const installation = await anInstallation();
const mailServer = await MailServer.start();
const limits = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_CODE: 'off' };
const service = await startOwnService({ installation, env: { ...limits, ...mailServer.env } });
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
  await installation.remove();
});

describe('accounts users set-email', () => {
  const setEmail = (user: Account, email: string, ...more: string[]) =>
    accounts(installation, ['users', 'set-email', user.email, email, ...BY_ROOT, ...more], {
      env: mailServer.env,
    });
  const rowOf = async ({ id }: Account) =>
    (
      await service.db.query('SELECT email, email_verified_at AS verified_at FROM users WHERE id = ?', [id])
    )[0]!;
  const login = (email: string, { password }: Account) =>
    service.anyone.post('/api/auth/login', { email, password });

  it('gives the account the e-mail everywhere, tells the old address, and leaves its row', async () => {
    const user = await aVerifiedAccount(service, 'before');
    const org = await anOrgOf(user);
    const email = anEmail('after');
    const known = await knownEvents(service.db);

    const { code, stdout } = await setEmail(user, email.toUpperCase());

    expect(code).toBe(0);
    expect(stdout).toBe(`${user.email} (${user.id}): the e-mail is ${email} now, not verified\n`);
    expect(await rowOf(user)).toEqual({ email, verified_at: null });
    const { body } = await user.get<{ members: object[] }>(`/api/orgs/${org.id}/members`);
    expect(body.members).toMatchObject([{ userId: user.id, email }]);
    expect(await login(user.email, user)).toMatchObject(invalidCredentials);
    expect((await login(email, user)).status).toBe(200);
    const changes = (await eventsSince(service.db, known)).filter(({ type }) => type.startsWith('account.'));
    expect(changes).toEqual([
      {
        type: 'account.email_changed',
        actor_type: 'operator',
        actor_id: 'root',
        org_id: null,
        user_id: user.id,
        data: { verified: false },
        reason: 'a test',
      },
    ]);
    const { text } = await mailServer.next(user.email);
    expect(text).toContain(`${user.email} no longer logs in`);
    expect(text).not.toContain(email);
  });

  it('keeps a disabled account in the list of disabled ones, by its new e-mail', async () => {
    const user = await anAccount(service, 'before');
    const listed = async () =>
      (await service.db.query('SELECT disabled_email FROM users WHERE id = ?', [user.id]))[0]![
        'disabled_email'
      ];
    const email = anEmail('after');

    await accountsJson(installation, ['users', 'disable', user.id, '--reason', 'a test']);
    expect(await listed()).toBe(user.email);
    await setEmail(user, email);
    expect(await listed()).toBe(email);
    await accountsJson(installation, ['users', 'enable', user.id]);
    expect(await listed()).toBeNull();
    await setEmail({ ...user, email } as Account, anEmail());
    expect(await listed()).toBeNull();
  });

  it('verifies it where the operator says so, and takes an address without where not', async () => {
    const user = await anAccount(service);
    await setEmail(user, anEmail(), '--verified');
    expect((await rowOf(user))['verified_at']).toEqual(expect.any(Number));

    await accountsJson(installation, ['users', 'set-email', user.id, anEmail()]);
    expect((await rowOf(user))['verified_at']).toBeNull();
  });

  it('voids the codes on their way to either address', async () => {
    const user = await aVerifiedAccount(service);
    const [wanted, email] = [anEmail('wanted'), anEmail('after')];
    await user.put('/api/me/email', { email: wanted, password: user.password });
    const change = (await mailServer.next(wanted)).code;
    await service.anyone.post('/api/auth/password/forgot', { email: user.email });
    // The notice of the change comes first.
    const reset = (await mailServer.next(user.email, 2)).code;
    const known = await knownEvents(service.db);

    expect((await setEmail(user, email)).code).toBe(0);

    expect(await user.post('/api/me/email/verify', { code: change })).toMatchObject(invalidCode);
    for (const address of [user.email, email]) {
      const attempt = { email: address, code: reset, newPassword: aPassword() };
      expect(await service.anyone.post('/api/auth/password/reset', attempt)).toMatchObject(invalidCode);
    }
    expect((await eventsSince(service.db, known)).map(({ type }) => type)).toEqual(['account.email_changed']);
  });

  it('refuses an address that another account has, and changes nothing twice', async () => {
    const [user, other] = [await anAccount(service), await anAccount(service)];
    const known = await knownEvents(service.db);

    const refused = await setEmail(user, other.email);

    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^refused: [^\n]+\(email_taken\)\n$/);
    expect((await setEmail(user, user.email)).stdout).toContain('already has this e-mail');
    expect((await setEmail(user, 'no address')).code).toBe(2);
    expect(await rowOf(user)).toEqual({ email: user.email, verified_at: null });
    expect(await eventsSince(service.db, known)).toEqual([]);
  });
});
