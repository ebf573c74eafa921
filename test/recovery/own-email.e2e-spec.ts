import { bodyOf } from '../support/answer.js';
import { describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import {
  emailTaken,
  invalidEmailCode,
  invalidFields,
  mailUnavailable,
  rateLimited,
  secondFactorRequired,
  verifiedEmailRequired,
  wrongPassword,
} from '../support/expected.js';
import { aVerifiedAccount, verified } from '../support/inviting.js';
import { refusal, untilMailsAreDecided } from '../support/mail-server.js';
import { startMailing } from '../support/mailing.js';
import { NO_LIMITS, startService } from '../support/service.js';
import { aPendingSecret, appCode, protect, SECOND_FACTOR } from '../support/second-factor.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { anOperator, makeOperator } from '../support/operators.js';
import type { Account } from '../support/personas.js';
import { anAccount, anAccountOf, anEmail, anOrgOf, aPassword, join, logIn } from '../support/personas.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts } from '../support/accounts-command.js';

const ASK = '/api/me/email/verification';
const VERIFY = '/api/me/email/verify';
const EMAIL = '/api/me/email';

/** Tests that wait for emails, one a second, wait at once. Others look at all events, or let the mail server refuse. */
const { service, mailServer } = await startMailing(NO_LIMITS);

describe('the own e-mail', () => {
  const change = (who: Account, email: string, password = who.password) =>
    who.put(EMAIL, { email, password });
  const verify = (who: Account, code: unknown) => who.post(VERIFY, { code });
  const codeTo = async (email: string, count = 1): Promise<string> =>
    (await mailServer.next(email, count)).code!;
  const about = (who: Account) => ({
    actor_type: 'user',
    actor_id: who.id,
    org_id: null,
    user_id: who.id,
    reason: null,
    data: {},
  });

  async function askedForChange(
    who: Account,
    email = anEmail('new'),
  ): Promise<{ email: string; code: string }> {
    expect(await change(who, email)).toMatchObject({ status: 202, body: { ok: true } });
    return { email, code: await codeTo(email) };
  }

  it('is verified by the code that is mailed to it, once', async () => {
    const user = await anAccount(service);
    expect(await user.post(ASK)).toMatchObject({ status: 202, body: { ok: true } });
    const code = await codeTo(user.email);
    const known = await knownEvents(service.db);
    expect(await verify(user, code)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await eventsSince(service.db, known)).toEqual([
      { ...about(user), type: 'account.email_verified' },
    ]);
    expect(await verify(user, code)).toMatchObject(invalidEmailCode);
    expect(await user.post(ASK)).toMatchObject({ status: 200, body: { ok: true } });
    expect(mailServer.to(user.email)).toHaveLength(1);
  });

  it('is safe from a code for a password that an operator had issued to whoever had it before', async () => {
    const [before, after] = [await aVerifiedAccount(service, 'wanted'), await anAccount(service)];
    const path = `/api/operators/users/${before.id}/reset-code`;
    const issued = await (await anOperator(service)).post<{ code: string }>(path, { reason: 'a test' });
    expect(issued.status, issued.text).toBe(201);
    expect(await mailServer.next(before.email)).toMatchObject({
      subject: 'An operator issued a password reset code',
      code: undefined,
    });
    expect((await verify(before, (await askedForChange(before)).code)).status).toBe(200);
    expect((await change(after, before.email)).status).toBe(202);
    expect((await verify(after, await codeTo(before.email, 3))).status).toBe(200);
    const reset = { email: before.email, code: issued.body.code, newPassword: aPassword() };
    expect(await service.anyone.post('/api/auth/password/reset', reset)).toMatchObject(invalidEmailCode);
  });

  it('becomes another, beside every membership too, once the code from there is typed', async () => {
    const user = await aVerifiedAccount(service, 'moving');
    const owner = await anAccount(service, 'owner');
    const org = await anOrgOf(owner);
    await join(org, owner, user, 'admin');
    const { email, code } = await askedForChange(user);
    const notice = await mailServer.next(user.email);
    const known = await knownEvents(service.db);
    expect((await user.get<{ user: { email: string } }>('/api/me')).body.user.email).toBe(user.email);
    expect(await verify(user, code)).toMatchObject({ status: 200, body: { ok: true } });
    expect(notice).toMatchObject({ subject: 'Someone asked to change your email address', code: undefined });
    expect(await eventsSince(service.db, known)).toEqual([{ ...about(user), type: 'account.email_changed' }]);
    const sql = 'SELECT email, email_verified_at, revision FROM users WHERE id = ?';
    const rows = await service.db.query(sql, [user.id]);
    expect(rows).toEqual([{ email, email_verified_at: expect.any(Number), revision: 2 }]);
    type Members = { members: { userId: string; email: string }[] };
    const { body } = await owner.get<Members>(`/api/orgs/${org.id}/members`);
    expect(body.members.find(({ userId }) => userId === user.id)?.email).toBe(email);
    expect((await logIn(service, { email, password: user.password })).status).toBe(200);
    expect((await logIn(service, user)).status).toBe(401);
  });

  it('answers the same for a taken e-mail, whose owner gets a notice, and the code of nobody', async () => {
    const [user, owner] = [await anAccount(service), await anAccount(service, 'owner')];
    const free = anEmail();
    const answers = [await change(user, owner.email), await change(user, free)];
    expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(Array(2).fill('202 {"ok":true}'));
    expect([...answers[0]!.headers.keys()]).toEqual([...answers[1]!.headers.keys()]);
    await codeTo(free);
    // The change to the free one has taken the place of this one: its notice may come, and no code.
    for (const mail of mailServer.to(owner.email)) expect(mail.code).toBeUndefined();
    const before = mailServer.to(owner.email).length;
    await change(user, owner.email);
    const notice = await mailServer.next(owner.email, before + 1);
    const subject = 'You have an account with this email address';
    expect(notice).toMatchObject({ subject, code: undefined });
    expect(notice.text).not.toContain(user.email);
  });

  it('stays if the other one was taken meanwhile: 409', async () => {
    const user = await anAccount(service);
    const { email, code } = await askedForChange(user);
    await service.anyone.post('/api/auth/register', { email, password: aPassword() });
    const known = await knownEvents(service.db);
    expect(await verify(user, code)).toMatchObject(emailTaken);
    expect(await eventsSince(service.db, known)).toEqual([]);
    const rows = await service.db.query('SELECT email, revision FROM users WHERE id = ?', [user.id]);
    expect(rows).toEqual([{ email: user.email, revision: 1 }]);
  });

  it.concurrent('has one pending change: a second takes the place of the first, the own e-mail calls it off', async () => {
    const user = await anAccount(service);
    const first = await askedForChange(user);
    const second = await askedForChange(user);
    expect(await verify(user, first.code)).toMatchObject(invalidEmailCode);
    expect((await change(user, user.email)).status).toBe(202);
    expect(await verify(user, second.code)).toMatchObject(invalidEmailCode);
  });

  it.concurrent('does not change with a code from before a new password, or from before the sessions ended', async () => {
    const [user, other] = [await aVerifiedAccount(service), await anAccount(service)];
    const [pending, ended] = [await askedForChange(user), await askedForChange(other)];
    await service.anyone.post('/api/auth/password/forgot', { email: user.email });
    // Beside the notice of the change.
    await mailServer.next(user.email, 2);
    const { code } = mailServer.to(user.email).find((mail) => mail.code !== undefined)!;
    const newPassword = aPassword();
    const reset = { email: user.email, code, newPassword };
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
    await service.db.query('UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?', [other.id]);
    for (const [who, password, stale] of [
      [user, newPassword, pending],
      [other, other.password, ended],
    ] as const) {
      const { body } = await logIn(service, { email: who.email, password });
      expect(await verify(who.as(body.token), stale.code)).toMatchObject(invalidEmailCode);
    }
  });

  it.concurrent('needs the current password', async () => {
    expect(await change(await anAccount(service), anEmail(), 'not the password')).toMatchObject(
      wrongPassword,
    );
  });

  it.concurrent('bounds wrong tries to 10,000,000 for one code', async () => {
    const user = await anAccount(service);
    const { code } = await askedForChange(user);
    await service.db.query('UPDATE email_codes SET tries = 9999999 WHERE subject = ?', [user.id]);
    expect(await verify(user, '0000000000')).toMatchObject(invalidEmailCode);
    expect(await verify(user, code)).toMatchObject(invalidEmailCode);
    await service.db.query('UPDATE email_codes SET tries = 9999999 WHERE subject = ?', [user.id]);
    expect((await verify(user, code)).status).toBe(200);
  });

  const untilDecided = (email: string) => untilMailsAreDecided(service, email);

  /** As if so many minutes had passed for the emails to an address. */
  async function passed(email: string, minutes: number): Promise<void> {
    for (const { id } of await service.db.query('SELECT id FROM mails WHERE recipient = ?', [email])) {
      const time = Number.parseInt(String(id).replace('-', '').slice(0, 12), 16) - minutes * 60_000;
      const hex = time.toString(16).padStart(12, '0');
      const aged = `${hex.slice(0, 8)}-${hex.slice(8)}${String(id).slice(13)}`;
      await service.db.query('UPDATE mails SET id = ? WHERE id = ?', [aged, String(id)]);
    }
  }

  it.concurrent('gets 10 codes a day that others ask for, of each 5, and then one an hour', async () => {
    const email = anEmail('flooded');
    const askers = await Promise.all(times(3, () => anAccount(service)));
    for (const asker of askers.slice(0, 2)) {
      for (let sent = 0; sent < 5; sent += 1) expect((await change(asker, email)).status).toBe(202);
      expect(await change(asker, email)).toMatchObject(rateLimited);
    }
    const refused = await change(askers[2]!, email);
    expect(refused).toMatchObject(rateLimited);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(3000);
    expect(wait).toBeLessThanOrEqual(3600);
    await passed(email, 61);
    expect((await change(askers[2]!, email)).status).toBe(202);
    expect(await change(askers[0]!, email)).toMatchObject(rateLimited);
  });

  it.concurrent("leaves the owner of an address recovery and verification, whatever others' requests use up", async () => {
    const [victim, ...strangers] = await Promise.all(times(3, () => anAccount(service)));
    for (const stranger of strangers) for (let i = 0; i < 6; i += 1) await change(stranger, victim!.email);
    await untilDecided(victim!.email);
    const sent = mailServer.to(victim!.email).length;
    expect((await victim!.post(ASK)).status).toBe(202);
    const verification = await mailServer.next(victim!.email, sent + 1);
    await service.anyone.post('/api/auth/password/forgot', { email: victim!.email });
    const recovery = await mailServer.next(victim!.email, sent + 2);
    expect(verification.subject).toBe('Your code to confirm this email address');
    expect(recovery.subject).toBe('Your password reset code');
    const body = { email: victim!.email, code: recovery.code, newPassword: aPassword() };
    expect((await service.anyone.post('/api/auth/password/reset', body)).status).toBe(200);
  });

  it.concurrent('does not tell by its limit which e-mail has an account, nor starts anew when one is deleted', async () => {
    const askers = await Promise.all(times(3, () => anAccount(service)));
    const [taken, free] = [(await anAccount(service, 'owner')).email, anEmail('free')];
    // What the owner asks for is not part of it.
    await service.anyone.post('/api/auth/password/forgot', { email: taken });
    const statuses: Record<string, number[]> = { [taken]: [], [free]: [] };
    for (let round = 0; round < 4; round += 1) {
      for (const asker of askers) {
        // The second voids the code of the first before it is mailed.
        for (const email of [free, taken]) statuses[email]!.push((await change(asker, email)).status);
      }
      await Promise.all([untilDecided(taken), untilDecided(free)]);
    }
    expect(statuses[free]).toEqual([...Array<number>(10).fill(202), 429, 429]);
    expect(statuses[taken]).toEqual(statuses[free]);
    const squatter = await anAccountOf(service, free);
    await squatter.delete('/api/me', { password: squatter.password });
    expect(await change(await anAccount(service), free)).toMatchObject(rateLimited);
  });

  it.concurrent('lets one user have 20 codes a day mailed, to whatever addresses', async () => {
    const user = await anAccount(service);
    for (let sent = 0; sent < 20; sent += 1) expect((await change(user, anEmail())).status).toBe(202);
    expect(await change(user, anEmail())).toMatchObject(rateLimited);
    // The notices to the old one have told enough.
    expect(mailServer.to(user.email).length).toBeLessThanOrEqual(5);
  });

  it('is verified by the newest code only: one that was replaced while it waited is not mailed', async () => {
    const user = await anAccount(service);
    mailServer.verdict = ({ to }) => {
      if (to === user.email) throw refusal(451);
    };
    await user.post(ASK);
    await waitFor('the first has failed and is to be tried again', hangTimeoutMs(), async () => {
      const sql = 'SELECT id FROM mails WHERE recipient = ? AND last_error IS NOT NULL';
      return (await service.db.query(sql, [user.email])).length > 0;
    });
    mailServer.verdict = () => undefined;
    await user.post(ASK);
    // An email that is being sent is due when its lease ends: only the first may become due before its time.
    await service.db.query(
      "UPDATE mails SET next_attempt_at = 0 WHERE recipient = ? AND state = 'waiting' AND last_error IS NOT NULL",
      [user.email],
    );
    await untilDecided(user.email);
    const [mail, ...others] = mailServer.to(user.email);
    expect(others).toEqual([]);
    expect((await verify(user, mail!.code)).status).toBe(200);
    const sql = 'SELECT state FROM mails WHERE recipient = ? ORDER BY id';
    const states = (await service.db.query(sql, [user.email])).map(({ state }) => state);
    expect(states).toEqual(['dropped', 'sent']);
  });

  it.concurrent('gets at most 10 codes a day, however many ask at the same moment', async () => {
    const email = anEmail('flooded');
    const askers: Account[] = [];
    while (askers.length < 16) askers.push(await anAccount(service));
    await Promise.all(askers.map((asker) => change(asker, email)));
    await untilDecided(email);
    expect(mailServer.to(email)).toHaveLength(10);
  });

  it.concurrent('refuses bodies that are none', async () => {
    const user = await anAccount(service);
    expect(await user.put(EMAIL, {})).toMatchObject(invalidFields('email'));
    expect(await user.put(EMAIL, { password: '' })).toMatchObject(invalidFields('email', 'password'));
    expect(await user.put(EMAIL, { email: anEmail() })).toMatchObject(invalidFields('password'));
    const injected = { email: 'a\r\nBcc: b@c.de', password: 'x' };
    expect(await user.put(EMAIL, injected)).toMatchObject(invalidFields('email'));
    for (const body of [{}, { code: 0 }, { code: false }])
      expect(await user.post(VERIFY, body)).toMatchObject(invalidFields('code'));
  });
});

it('routes that need a mail server answer 409 without one, the others as ever', async () => {
  const silent = await startService();
  const user = await anAccount(silent);
  const { email, password } = user;
  expect(await silent.anyone.post('/api/auth/password/forgot', { email })).toMatchObject(mailUnavailable);
  expect(await user.post(ASK)).toMatchObject(mailUnavailable);
  expect(await user.put(EMAIL, { email: anEmail(), password })).toMatchObject(mailUnavailable);
  expect(await user.post(VERIFY, { code: '0000000000' })).toMatchObject(invalidEmailCode);
  const reset = { email, code: '0000000000', newPassword: aPassword() };
  expect(await silent.anyone.post('/api/auth/password/reset', reset)).toMatchObject(invalidEmailCode);
  await silent.stop();
});

const REASON = { reason: 'a test' };

const { account: operator } = await protect(service, await anAccount(service, 'operator'));
await makeOperator(service, operator);

const reset = (email: string, code: string, newPassword = aPassword()) =>
  service.anyone.post('/api/auth/password/reset', { email, code, newPassword });
const operate = ({ id }: Account, operation: string) =>
  operator.post<{ code: string }>(`/api/operators/users/${id}/${operation}`, REASON);
const command = (...parameters: string[]) =>
  accounts(service.installation, parameters, { env: mailServer.env });

async function aMailedCode(email: string): Promise<string> {
  const before = mailServer.to(email).length;
  expect((await service.anyone.post('/api/auth/password/forgot', { email })).status).toBe(202);
  return (await mailServer.next(email, before + 1)).code!;
}

const aHandedOutCode = async (user: Account) => (await bodyOf(operate(user, 'reset-code'), 201)).code;

/** An email is queued in the transaction of the change, so its row is there once the change is answered. */
const queuedFor = async ({ email }: Pick<Account, 'email'>): Promise<unknown[]> =>
  (await service.db.query('SELECT kind FROM mails WHERE recipient = ? ORDER BY id', [email])).map(
    ({ kind }) => kind,
  );

describe('a second factor and the mailbox', () => {
  const rowsOf = async ({ id }: Account) => {
    const [row] = await service.db.query(
      `SELECT (SELECT COUNT(*) FROM second_factors WHERE user_id = u.id) AS factors,
        (SELECT COUNT(*) FROM recovery_codes WHERE user_id = u.id) AS codes,
        operator_since AS since FROM users u WHERE id = ?`,
      [id],
    );
    return { factors: Number(row!['factors']), codes: Number(row!['codes']), since: row!['since'] };
  };

  it('the first reset by email removes the factor and the grant of a stranger who registered the address', async () => {
    const stranger = await anAccount(service, 'victim');
    await protect(service, stranger);
    await makeOperator(service, stranger);
    const code = await aMailedCode(stranger.email);
    const known = await knownEvents(service.db);
    const password = aPassword();
    expect((await reset(stranger.email, code, password)).status).toBe(200);
    expect((await logIn(service, { email: stranger.email, password })).status).toBe(200);
    expect(await rowsOf(stranger)).toEqual({ factors: 0, codes: 0, since: null });
    const events = (await eventsSince(service.db, known)).filter(({ type }) => type !== 'session.started');
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['account.email_verified', {}],
      ['account.operator_revoked', {}],
      ['account.password_changed', {}],
      ['account.second_factor_removed', {}],
      ['session.ended', { reason: 'password_changed', all: true, epoch: 2 }],
    ]);
    const mails = ['password_reset', 'second_factor_removed', 'password_changed'];
    expect(await queuedFor(stranger)).toEqual(mails);
  });

  it('the first reset by email suspends the user where an organization requires the factor', async () => {
    const stranger = await anAccount(service, 'victim');
    const required = await anOrgOf(stranger);
    await anOrgOf(stranger, 'Requires nothing');
    await protect(service, stranger);
    await service.db.query('UPDATE orgs SET second_factor_from = 1 WHERE id = ?', [required.id]);
    const code = await aMailedCode(stranger.email);
    const known = await knownEvents(service.db);
    expect((await reset(stranger.email, code)).status).toBe(200);
    const suspended = (await eventsSince(service.db, known)).filter(({ org_id: orgId }) => orgId !== null);
    const data = { reason: 'second_factor' };
    expect(suspended).toMatchObject([
      { type: 'member.suspended', org_id: required.id, user_id: stranger.id, data },
    ]);
  });

  it.concurrent('a reset leaves the factor of a verified account on, and so does a code from an operator', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    await verified(service.db, ada);
    const password = aPassword();
    for (const user of [ada, grace]) await protect(service, user);
    expect((await reset(ada.email, await aMailedCode(ada.email), password)).status).toBe(200);
    expect((await reset(grace.email, await aHandedOutCode(grace), password)).status).toBe(200);
    for (const user of [ada, grace]) {
      expect(await logIn(service, { email: user.email, password })).toMatchObject(secondFactorRequired);
      expect(await rowsOf(user)).toMatchObject({ factors: 1, codes: 10 });
    }
  });

  it.concurrent('a factor is confirmed by a user with a verified email, since email can be sent', async () => {
    const ada = await anAccount(service, 'ada');
    const secret = await aPendingSecret(ada);
    const confirm = () => ada.post(`${SECOND_FACTOR}/confirm`, { code: appCode(secret) });
    const refused = await confirm();
    expect(refused).toMatchObject(verifiedEmailRequired);
    expect(refused.text).toContain('POST /api/me/email/verification');
    expect((await ada.post('/api/me/email/verification')).status).toBe(202);
    const { code } = await mailServer.next(ada.email);
    expect((await ada.post('/api/me/email/verify', { code })).status).toBe(200);
    expect((await confirm()).status).toBe(200);
  });

  it.concurrent('an account with a factor keeps a verified email', async () => {
    const ada = await anAccount(service, 'ada');
    await verified(service.db, ada);
    await protect(service, ada);
    const refused = await command('users', 'set-email', ada.email, anEmail());
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^refused: .*--verified.* \(verified_email_required\)\n$/);
    expect((await command('users', 'set-email', ada.email, anEmail(), '--verified')).code).toBe(0);
  });
});

describe.concurrent('a code that an operator hands out', () => {
  it('is void once the account has another email, at either address', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    const email = anEmail('after');
    expect((await ada.put('/api/me/email', { email, password: ada.password })).status).toBe(202);
    const change = (await mailServer.next(email)).code;
    expect((await ada.post('/api/me/email/verify', { code: change })).status).toBe(200);
    const next = await anAccountOf(service, ada.email);
    for (const address of [ada.email, email])
      expect(await reset(address, code)).toMatchObject(invalidEmailCode);
    expect((await logIn(service, next)).status).toBe(200);
  });

  it('is of one account, whose address another one may have got without a change that voids it', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const code = await aHandedOutCode(ada);
    const rename = 'UPDATE users SET email = ? WHERE id = ?';
    await service.db.query(rename, [anEmail(), ada.id]);
    await service.db.query(rename, [ada.email, grace.id]);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  it('is void once every session of the account has ended', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    expect((await operate(ada, 'end-sessions')).status).toBe(200);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  it('stays valid when a stranger asks for one by email', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    const mailed = await aMailedCode(ada.email);
    expect((await reset(ada.email, code)).status).toBe(200);
    expect(await reset(ada.email, mailed)).toMatchObject(invalidEmailCode);
  });
});

describe.concurrent('an email that nobody has verified', () => {
  const setPassword = ({ id }: Account) => command('users', 'set-password', id, '--generate');

  it('gets no notice, and a verified one gets each', async () => {
    const [stranger, ada] = [await anAccount(service, 'victim'), await anAccount(service, 'ada')];
    await verified(service.db, ada);
    for (const user of [stranger, ada]) {
      const newPassword = aPassword();
      const change = { currentPassword: user.password, newPassword };
      expect((await user.put('/api/me/password', change)).status).toBe(200);
      expect((await user.put('/api/me/email', { email: anEmail(), password: newPassword })).status).toBe(202);
      await aHandedOutCode(user);
      await protect(service, user);
      expect((await operate(user, 'remove-second-factor')).status).toBe(200);
      expect((await setPassword(user)).code).toBe(0);
      expect((await command('users', 'set-email', user.id, anEmail())).code).toBe(0);
    }
    expect(await queuedFor(ada)).toEqual(
      (
        'password_changed email_change_asked reset_code_issued second_factor_removed ' +
        'password_changed email_changed'
      ).split(' '),
    );
    expect(await queuedFor(stranger)).toEqual([]);
  });

  it('shows its user none of the emails to that address', async () => {
    const email = anEmail('victim');
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at)
        VALUES ('01900000-0000-7000-8000-000000000000', 'invitation', ?, 'sent', 1, 0)`,
      [email],
    );
    const ada = await anAccountOf(service, email);
    await aMailedCode(email);
    const exported = async () => {
      const { body } = await ada.get<{ mails: { kind: string }[] }>('/api/me/export');
      return body.mails.map(({ kind }) => kind);
    };
    expect(await exported()).toEqual([]);
    await verified(service.db, ada);
    expect(await exported()).toEqual(['password_reset']);
  });
});
