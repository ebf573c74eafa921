import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { DataOf } from '../../client/src/index.ts';
import { accounts, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { invalidCredentials, invalidEmailCode, invalidInvitationCode } from '../support/expected.js';
import { anInvitation, aVerifiedAccount, registerWith, roleOf } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import {
  type Account,
  anAccount,
  anEmail,
  anOrgOf,
  aPassword,
  logIn,
  type Org,
} from '../support/personas.js';
import { engine } from '../support/engine.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { holdRows } from '../support/held-rows.js';
import { startOwnService } from '../support/service.js';

interface Handed extends DataOf<'adminIssueResetCode'> {
  org: Org;
}

const CODE = expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/) as string;
const A_TIME = expect.stringMatching(/Z$/) as string;

/** Nothing listens there until a test starts a server. */
const port = await freePort();
const mailEnv = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'no-reply@accounts.example' };
const limits = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_CODE: 'off' };
const service = await startOwnService({ env: { ...limits, ...mailEnv } });
const { installation } = service;
afterAll(() => service.stop());

const run = (...parameters: string[]) => accounts(installation, parameters);
const resetCode = (email: string) => ['users', 'reset-code', email, ...BY_ROOT];
const forgot = (email: string) => service.anyone.post('/api/auth/password/forgot', { email });
const reset = (email: string, code: string | undefined) =>
  service.anyone.post('/api/auth/password/reset', { email, code, newPassword: aPassword() });
const byRoot = (type: string, data: object, about: { orgId?: string; userId?: string }) => ({
  type,
  actor_type: 'operator',
  actor_id: 'root',
  org_id: about.orgId ?? null,
  user_id: about.userId ?? null,
  data,
  reason: 'a test',
});

describe('accounts mail', () => {
  const list = (...parameters: string[]) =>
    accountsJson<DataOf<'adminListEmails'>['mails'][number]>(installation, ['mail', 'list', ...parameters]);

  const untilMail = (email: string, condition: string) =>
    waitFor(condition, hangTimeoutMs(), async () => {
      const found = `SELECT id FROM mails WHERE recipient = ? AND ${condition}`;
      return (await service.db.query(found, [email])).length > 0;
    });

  it('lists what waits, without a code, and sends it at once', async () => {
    const { email } = await anAccount(service);
    await forgot(email);
    await untilMail(email, 'last_error IS NOT NULL');
    const [mail] = await list('--to', email, '--state', 'waiting');
    const lastError = expect.stringMatching(/^E/) as string;
    expect(mail).toMatchObject({
      kind: 'password_reset',
      recipient: email,
      nextAttemptAt: A_TIME,
      lastError,
    });
    const { stdout } = await run('mail', 'list');
    expect(stdout).toContain(`waiting  ${mail!.id}  password_reset  ${email}`);

    // However long the command takes, it is what sends the mail.
    const tomorrow = Date.now() + 86_400_000;
    await service.db.query('UPDATE mails SET next_attempt_at = ? WHERE id = ?', [tomorrow, mail!.id]);
    const mailServer = await MailServer.start({ port });
    expect(await accountsJson(installation, ['mail', 'retry', mail!.id])).toEqual([{ retried: 1 }]);
    const { code } = await mailServer.next(email);
    await untilMail(email, "state = 'sent'");
    expect(await list('--to', email)).toEqual([]);
    const sent = await list('--to', email, '--state', 'sent');
    await mailServer.stop();

    expect(sent).toMatchObject([
      { id: mail!.id, state: 'sent', nextAttemptAt: null, lastError: null, attempts: 1 },
    ]);
    expect(JSON.stringify(sent) + stdout).not.toContain(code);
    const ended = failure(1, 'refused: the email is sent (mail_ended)\n');
    expect(await run('mail', 'retry', mail!.id)).toEqual(ended);
  });

  it('retries all that failed, and none that expired', async () => {
    const [one, other] = [await anAccount(service), await anAccount(service)];
    for (const { email } of [one, other]) await forgot(email);
    const failed = "UPDATE mails SET state = 'failed', expires_at = ? WHERE recipient = ?";
    await service.db.query(failed, [Date.now() + 600_000, one.email]);
    await service.db.query(failed, [Date.now() - 1, other.email]);
    const [expired] = await list('--to', other.email, '--state', 'failed');

    expect(await accountsJson(installation, ['mail', 'retry', '--failed'])).toEqual([{ retried: 1 }]);

    expect(await list('--to', one.email)).toMatchObject([{ state: 'waiting' }]);
    const ended = failure(1, 'refused: the email is expired (mail_ended)\n');
    expect(await run('mail', 'retry', expired!.id)).toEqual(ended);
  });
});

describe('accounts users reset-code', () => {
  it('hands out a code that sets a password once, and proves no e-mail', async () => {
    const user = await anAccount(service);
    const { id, email } = user;
    const known = await knownEvents(service.db);

    const [handed] = await accountsJson<Handed>(installation, resetCode(email));

    expect(handed).toEqual({ id, email, code: CODE, expiresAt: A_TIME });
    const recorded = byRoot('account.reset_code_issued', {}, { userId: id });
    expect(await eventsSince(service.db, known)).toEqual([recorded]);
    const { body, text } = await user.get<{ events: object[] }>('/api/me/events?limit=1');
    const issued = { type: 'account.reset_code_issued', actor: { type: 'operator', id: 'root' }, data: {} };
    expect(body.events).toMatchObject([issued]);
    expect(text).not.toContain('a test');

    expect((await reset(email, handed!.code)).status).toBe(200);
    expect(await reset(email, handed!.code)).toMatchObject(invalidEmailCode);
    const [row] = await service.db.query('SELECT email_verified_at, revision FROM users WHERE id = ?', [id]);
    expect(row).toEqual({ email_verified_at: null, revision: 3 });
    const types = (await eventsSince(service.db, known)).map(({ type }) => type);
    expect(types).toEqual(['account.password_changed', 'account.reset_code_issued', 'session.ended']);
  });

  it('hands out no code for a disabled account, and set-password voids a code', async () => {
    const { email } = await anAccount(service);
    const [handed] = await accountsJson<Handed>(installation, resetCode(email));
    await accountsJson(installation, ['users', 'set-password', email, '--generate']);
    expect(await reset(email, handed!.code)).toMatchObject(invalidEmailCode);

    await accountsJson(installation, ['users', 'disable', email]);
    const disabled = failure(1, 'refused: the user is disabled (account_disabled)\n');
    expect(await run(...resetCode(email))).toEqual(disabled);
  });
});

describe('accounts users set-email', () => {
  let mailServer: MailServer;
  beforeAll(async () => {
    mailServer = await MailServer.start({ port });
  });
  afterAll(() => mailServer.stop());

  const setEmail = ({ id }: Account, email: string, ...more: string[]) =>
    accounts(installation, ['users', 'set-email', id, email, ...BY_ROOT, ...more], { env: mailEnv });
  const columnOf = async ({ id }: Account, column: string) =>
    (await service.db.query(`SELECT ${column} AS found FROM users WHERE id = ?`, [id]))[0]!['found'];

  it('gives the account the e-mail everywhere, tells the old address, and leaves its row', async () => {
    const user = await aVerifiedAccount(service, 'before');
    const org = await anOrgOf(user);
    const email = anEmail('after');
    const known = await knownEvents(service.db);

    const stdout = `${user.email} (${user.id}): the email is now ${email}, not verified\n`;
    expect(await setEmail(user, email.toUpperCase())).toMatchObject({ code: 0, stdout });

    expect(await columnOf(user, 'email')).toBe(email);
    expect(await columnOf(user, 'email_verified_at')).toBeNull();
    const { body } = await user.get<{ members: object[] }>(`/api/orgs/${org.id}/members`);
    expect(body.members).toMatchObject([{ userId: user.id, email }]);
    expect(await logIn(service, user)).toMatchObject(invalidCredentials);
    expect((await logIn(service, { email, password: user.password })).status).toBe(200);
    const changes = (await eventsSince(service.db, known)).filter(({ type }) => type.startsWith('account.'));
    expect(changes).toEqual([byRoot('account.email_changed', { verified: false }, { userId: user.id })]);
    const { text } = await mailServer.next(user.email);
    expect(text).toContain(`no longer log in with ${user.email}`);
    expect(text).not.toContain(email);
  });

  it('keeps a disabled account in the list of disabled ones, by its new e-mail', async () => {
    const user = await anAccount(service, 'before');
    const listed = () => columnOf(user, 'disabled_email');
    const email = anEmail('after');

    await accountsJson(installation, ['users', 'disable', user.id]);
    expect(await listed()).toBe(user.email);
    await setEmail(user, email);
    expect(await listed()).toBe(email);
    await accountsJson(installation, ['users', 'enable', user.id]);
    expect(await listed()).toBeNull();
    await setEmail(user, anEmail());
    expect(await listed()).toBeNull();
  });

  it('verifies it where the operator says so, and takes an address without where not', async () => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);
    await setEmail(user, anEmail(), '--verified');
    expect(await columnOf(user, 'email_verified_at')).toEqual(expect.any(Number));
    const changed = byRoot('account.email_changed', { verified: true }, { userId: user.id });
    expect(await eventsSince(service.db, known)).toEqual([changed]);
    await accountsJson(installation, ['users', 'set-email', user.id, anEmail()]);
    expect(await columnOf(user, 'email_verified_at')).toBeNull();
  });

  it('voids the codes on their way to either address', async () => {
    const user = await aVerifiedAccount(service);
    const [wanted, email] = [anEmail('wanted'), anEmail('after')];
    await user.put('/api/me/email', { email: wanted, password: user.password });
    const change = (await mailServer.next(wanted)).code;
    await forgot(user.email);
    // The notice of the change comes first.
    const { code } = await mailServer.next(user.email, 2);
    const known = await knownEvents(service.db);
    // It leaves a row for the new address, although nobody has that yet.
    expect(await reset(email, code)).toMatchObject(invalidEmailCode);

    expect((await setEmail(user, email)).code).toBe(0);

    const rows = 'SELECT purpose FROM email_codes WHERE subject IN (?, ?, ?)';
    expect(await service.db.query(rows, [user.id, user.email, email])).toEqual([]);
    expect(await user.post('/api/me/email/verify', { code: change })).toMatchObject(invalidEmailCode);
    for (const address of [user.email, email])
      expect(await reset(address, code)).toMatchObject(invalidEmailCode);
    expect((await eventsSince(service.db, known)).map(({ type }) => type)).toEqual(['account.email_changed']);
  });

  // With SQLite, nothing shows that the command waits.
  it.runIf(engine !== 'sqlite')('replaces no address that the user has changed meanwhile', async () => {
    const user = await aVerifiedAccount(service);
    const changed = anEmail('changed');
    const known = await knownEvents(service.db);
    const held = await holdRows(service);
    await held.write('UPDATE users SET email = ?, revision = revision + 1 WHERE id = ?', [changed, user.id]);
    const typed = setEmail(user, anEmail('typed'));
    await held.untilOneWaits();
    await held.commit();
    expect(await typed).toEqual(failure(2, /^error: [^\n]+ run the command again\n$/));
    expect(await columnOf(user, 'email')).toBe(changed);
    expect(await eventsSince(service.db, known)).toEqual([]);
  });

  it('refuses an address that another account has, and changes nothing twice', async () => {
    const [user, other] = [await anAccount(service), await anAccount(service)];
    const known = await knownEvents(service.db);
    expect(await setEmail(user, other.email)).toEqual(failure(1, /^refused: [^\n]+\(email_taken\)\n$/));
    expect((await setEmail(user, user.email)).stdout).toContain('already has this email');
    expect((await setEmail(user, 'no address')).code).toBe(2);
    expect(await columnOf(user, 'email')).toBe(user.email);
    expect(await columnOf(user, 'email_verified_at')).toBeNull();
    expect(await eventsSince(service.db, known)).toEqual([]);
  });
});

describe('accounts users invite-code', async () => {
  const owner = await aVerifiedAccount(service, 'owner');
  const org = await anOrgOf(owner);
  const inviteCode = (email: string) => ['users', 'invite-code', email, ...BY_ROOT];

  it('prints a code once that joins, takes the place of the one before, and verifies no e-mail', async () => {
    const email = anEmail('joan');
    const { id, code: mailed } = await anInvitation(owner, org, { email, role: 'admin' });
    await service.db.query('UPDATE invitations SET code_shown = 0 WHERE id = ?', [id]);
    const known = await knownEvents(service.db);

    const [handed] = await accountsJson<Handed>(installation, inviteCode(email));

    const role = 'admin';
    const of = { id: org.id, name: org.name };
    expect(handed).toEqual({ id, email, role, org: of, code: CODE, expiresAt: A_TIME });
    const resent = byRoot('invitation.resent', { invitationId: id, role }, { orgId: org.id });
    expect(await eventsSince(service.db, known)).toEqual([resent]);

    expect(await registerWith(service, email, mailed)).toMatchObject(invalidInvitationCode);
    const { status, body, text } = await registerWith(service, email, handed!.code);
    expect(status, text).toBe(201);
    expect(await roleOf(service.db, org, body.user)).toBe('admin');
    const [user] = await service.db.query('SELECT email_verified_at FROM users WHERE id = ?', [body.user.id]);
    expect(user).toEqual({ email_verified_at: null });
  });

  it('asks which organization is meant where several invite', async () => {
    const email = anEmail('wanted');
    const other = await anOrgOf(owner, 'Difference Engines');
    for (const by of [org, other]) await anInvitation(owner, by, { email });

    expect(await run(...inviteCode(email))).toEqual(
      failure(2, /^error: 2 organizations have invited this email: add --org, such as [^\n]+\n$/),
    );
    const ofOther = [...inviteCode(email), '--org', 'Difference Engines'];
    const [handed] = await accountsJson<Handed>(installation, ofOther);
    expect(handed!.org.id).toBe(other.id);
  });

  it('needs a pending invitation of somebody who may invite', async () => {
    const email = anEmail('late');
    const { id } = await anInvitation(owner, org, { email });
    const known = await knownEvents(service.db);

    await service.db.query('UPDATE invitations SET invited_by = id WHERE id = ?', [id]);
    expect(await run(...inviteCode(email))).toEqual(failure(1, /^refused: [^\n]+\(invitation_ended\)\n$/));
    await service.db.query('UPDATE invitations SET expires_at = 1 WHERE id = ?', [id]);
    const none = failure(2, `error: no invitation is pending for ${email}\n`);
    expect(await run(...inviteCode(email))).toEqual(none);
    expect(await eventsSince(service.db, known)).toEqual([]);
  });
});
