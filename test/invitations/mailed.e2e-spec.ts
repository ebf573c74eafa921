import { beforeEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { invalidInvitationCode, rateLimited } from '../support/expected.js';
import {
  accept,
  anInvitation,
  DAY_MS,
  type Invitation,
  invite,
  listed,
  received,
  registerWith,
  resend,
  revoke,
  roleOf,
  verified,
} from '../support/inviting.js';
import { refusal } from '../support/mail-server.js';
import { startMailing } from '../support/mailing.js';
import { disable } from '../support/org-members.js';
import type { Account, Cast, Session } from '../support/personas.js';
import { anAccount, anAccountOf, anEmail, anOrg, anOrgOf, aPassword } from '../support/personas.js';
import { idAt, insertRows } from '../support/rows.js';
import type { Answer } from '../support/answer.js';

const MAX_FOR_RECIPIENT_FROM_ONE = 5;
const MAX_FOR_RECIPIENT = 25;
const MAX_FOR_OTHERS = 100;

const { service, mailServer } = await startMailing({ TRUST_PROXY: '127.0.0.1' });

describe('an invitation by mail', () => {
  let cast: Cast;
  beforeEach(async () => {
    mailServer.verdict = () => undefined;
    cast = await anOrg(service);
  });

  async function mailed(by: Account, org: Cast['org'], email: string): Promise<Invitation> {
    const { status, body, text } = await invite(by, org, { email, showCode: false });
    expect(status, text).toBe(201);
    expect(body.invitation).not.toHaveProperty('code');
    return body.invitation;
  }

  /** The emails that have come, when the invitation's fails until `work` is done, and is dropped then. */
  async function whileItWaits(email: string, work: () => Promise<unknown>): Promise<object[]> {
    mailServer.verdict = () => {
      throw refusal(451);
    };
    await mailed(cast.admin, cast.org, email);
    const row = async () => {
      const query = 'SELECT state, last_error FROM mails WHERE recipient = ? ORDER BY id DESC';
      return (await service.db.query(query, [email]))[0]!;
    };
    const attemptAt = (time: number) =>
      service.db.query("UPDATE mails SET next_attempt_at = ? WHERE recipient = ? AND state = 'waiting'", [
        time,
        email,
      ]);
    await waitFor('an attempt has failed', hangTimeoutMs(), async () => (await row())['last_error'] !== null);
    await attemptAt(Date.now() + DAY_MS);
    await work();
    mailServer.verdict = () => undefined;
    await attemptAt(0);
    await waitFor('the mail is dropped', hangTimeoutMs(), async () => (await row())['state'] === 'dropped');
    return mailServer.to(email);
  }

  /** No mail program makes a link of it. */
  const unlinked = (email: string): string => email.replace('@', ' @ ').replaceAll('.', '. ');

  it('says who invites, unproven as he is, and where to, in quotes', async () => {
    const { owner } = cast;
    const org = await anOrgOf(owner, 'A "fine”  place\u2028Your code: 00000-00000 at evil.example\u202e');
    const email = anEmail('guest');
    await mailed(owner, org, email);
    const mail = await mailServer.next(email);
    const text = mail.text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    expect(mail.subject).toBe('You are invited to an organization');
    expect(text).toContain(
      `${unlinked(owner.email)} (an address that is not verified) invites you (${email})`,
    );
    expect(text).toContain(`    "A 'fine' place Your code: 00000-00000 at evil. example"\r\n`);
    expect(text.match(/^Your code: /gm)).toHaveLength(1);
    expect(text).not.toContain(owner.email);
    await verified(service.db, owner);
    const other = anEmail('guest');
    await mailed(owner, org, other);
    expect((await mailServer.next(other)).text).toContain(`${unlinked(owner.email)} invites you`);
  });

  /** of the account that registers with the code */
  async function isVerified(email: string, code: string): Promise<unknown> {
    const { body, status, text } = await registerWith(service, email, code);
    expect(status, text).toBe(201);
    const account = await service.anyone
      .withToken(body.token)
      .get<{ emailVerified: boolean }>('/api/me/account');
    return account.body.emailVerified;
  }

  it('proves the e-mail of whoever registers with its code', async () => {
    const email = anEmail('guest');
    await mailed(cast.admin, cast.org, email);
    const { code } = await mailServer.next(email);
    expect(await isVerified(email, code!)).toBe(true);
  });

  it('proves the e-mail of an account that accepts with its code', async () => {
    const guest = await anAccount(service, 'guest');
    const other = await anOrg(service);
    const invitation = await mailed(cast.admin, cast.org, guest.email);
    await anInvitation(other.owner, other.org, { email: guest.email });
    expect(await received(guest)).toEqual([]);
    const { code } = await mailServer.next(guest.email);
    expect((await accept(guest, invitation, code)).status).toBe(200);
    expect((await received(guest)).map(({ org }) => org.id)).toEqual([other.org.id]);
  });

  it('proves nothing any more once a code was shown, and again once one is mailed', async () => {
    const [one, two] = [anEmail('guest'), anEmail('guest')];
    const first = await mailed(cast.admin, cast.org, one);
    const { code: dead } = await mailServer.next(one);
    const shown = (await resend(cast.admin, cast.org, first)).body.invitation.code!;
    const second = await anInvitation(cast.admin, cast.org, { email: two });
    await resend(cast.admin, cast.org, second, false);
    const { code } = await mailServer.next(two);
    expect(await registerWith(service, one, dead!)).toMatchObject({ status: 400 });
    expect(await isVerified(one, shown)).toBe(false);
    expect(await registerWith(service, two, second.code)).toMatchObject({ status: 400 });
    expect(await isVerified(two, code!)).toBe(true);
  });

  /** As if so many had been written before, at that time. */
  async function addMails(
    count: number,
    values: Record<string, string>,
    time = Date.now() - 60_000,
  ): Promise<void> {
    const rows = times(count, () => ({ id: idAt(time), recipient: anEmail() }));
    const shared = { kind: 'invitation', state: 'sent', created_at: time, next_attempt_at: time };
    await insertRows(
      service.db,
      'mails',
      rows.map((row) => Object.assign(row, values)),
      shared,
    );
  }

  const markDeleted = () => service.db.query('UPDATE orgs SET deleted_at = 1 WHERE id = ?', [cast.org.id]);
  const requireFactor = () =>
    service.db.query('UPDATE orgs SET second_factor_from = 1 WHERE id = ?', [cast.org.id]);
  it.each<[string, (email: string) => Promise<unknown>]>([
    ['it is revoked', async () => revoke(cast.admin, cast.org, (await listed(cast.admin, cast.org))[0]!)],
    ['its organization is deleted', () => markDeleted()],
    ['its inviter is disabled', () => disable(service.db, cast.admin)],
    ['its inviter is suspended', () => requireFactor()],
    ['others reached the limit before it', (email) => addMails(MAX_FOR_RECIPIENT, { recipient: email })],
  ])('is not sent once %s', async (_what, happen) => {
    const email = anEmail('guest');
    expect(await whileItWaits(email, () => happen(email))).toEqual([]);
  });

  it('is sent five times a day to one e-mail by one organization; others, and other mail, go on', async () => {
    const guest = await anAccount(service, 'guest');
    const { owner, admin, org } = cast;
    const invitation = await mailed(owner, org, guest.email);
    for (const by of [admin, owner, admin, owner])
      expect((await resend(by, org, invitation, false)).status).toBe(200);
    const refused = await resend(admin, org, invitation, false);
    expect(refused).toMatchObject(rateLimited);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(DAY_MS / 1000 - 600);
    expect(wait).toBeLessThanOrEqual(DAY_MS / 1000);
    // Shown codes are not mailed, and codes for passwords are not invitations.
    expect((await resend(owner, org, invitation)).status).toBe(200);
    const other = await anOrg(service);
    await mailed(other.owner, other.org, guest.email);
    await service.anyone.post('/api/auth/password/forgot', { email: guest.email });
    await waitFor('the code for a password', hangTimeoutMs(), () =>
      mailServer.to(guest.email).some(({ subject }) => subject === 'Your password reset code'),
    );
  });

  it('is sent five times a day to one e-mail by one inviter, for whatever organizations', async () => {
    const email = anEmail('guest');
    const orgs = await Promise.all(times(MAX_FOR_RECIPIENT_FROM_ONE + 1, () => anOrgOf(cast.owner)));
    for (const org of orgs.slice(1)) await mailed(cast.owner, org, email);
    expect(await invite(cast.owner, orgs[0]!, { email, showCode: false })).toMatchObject(rateLimited);
    expect(await service.db.query('SELECT id FROM invitations WHERE org_id = ?', [orgs[0]!.id])).toEqual([]);
  });

  it('is sent to one e-mail by a sixth organization, and 25 times a day in all', async () => {
    const email = anEmail('guest');
    await addMails(MAX_FOR_RECIPIENT - 1, { recipient: email });
    await mailed(cast.owner, cast.org, email);
    const other = await anOrg(service);
    expect(await invite(other.owner, other.org, { email, showCode: false })).toMatchObject(rateLimited);
  });

  it('does not use up the codes that an address gets in a day', async () => {
    const guest = await anAccount(service, 'guest');
    await addMails(20, { recipient: guest.email, code_id: 'x' });
    expect((await guest.post('/api/me/email/verification')).status).toBe(202);
    expect((await mailServer.next(guest.email)).subject).toBe('Your code to confirm this email address');
  });

  it('is counted for a day', async () => {
    const email = anEmail('guest');
    await addMails(MAX_FOR_RECIPIENT, { recipient: email }, Date.now() - DAY_MS - 1000);
    await mailed(cast.admin, cast.org, email);
    expect(await mailServer.next(email)).toBeDefined();
  });

  it('is counted although somebody registers the address, and deletes the account', async () => {
    const email = anEmail('victim');
    await addMails(MAX_FOR_RECIPIENT, { recipient: email });
    const squatter = await anAccountOf(service, email);
    await squatter.delete('/api/me', { password: squatter.password });
    expect(await invite(cast.owner, cast.org, { email, showCode: false })).toMatchObject(rateLimited);
  });

  it('is counted although it was revoked before it was sent', async () => {
    const email = anEmail('victim');
    mailServer.verdict = () => {
      throw refusal(451);
    };
    for (let turn = 0; turn < MAX_FOR_RECIPIENT_FROM_ONE; turn += 1)
      await revoke(cast.owner, cast.org, await mailed(cast.owner, cast.org, email));
    await waitFor('all are dropped', hangTimeoutMs(), async () => {
      await service.db.query(
        "UPDATE mails SET next_attempt_at = 0 WHERE recipient = ? AND state = 'waiting'",
        [email],
      );
      const rows = await service.db.query('SELECT state FROM mails WHERE recipient = ?', [email]);
      return rows.every(({ state }) => state === 'dropped');
    });
    expect(await invite(cast.owner, cast.org, { email, showCode: false })).toMatchObject(rateLimited);
  });

  it.each(['sender_id', 'org_id'])('is sent 100 times a day by %s', async (column) => {
    const { org, owner, admin } = cast;
    await addMails(MAX_FOR_OTHERS - 1, { [column]: column === 'org_id' ? org.id : owner.id });
    await mailed(owner, org, anEmail());
    expect(await invite(owner, org, { email: anEmail(), showCode: false })).toMatchObject(rateLimited);
    const byAnother = await invite(admin, org, { email: anEmail(), showCode: false });
    expect(byAnother.status).toBe(column === 'org_id' ? 429 : 201);
    expect((await invite(owner, org, { email: anEmail() })).status).toBe(201);
  });
});

const TRIES = 50;
const MAX_TRIES = 10_000_000;
/** of registration, for one email from one address in an hour */
const TRIES_OF_AN_ADDRESS = 5;

describe('a mailed invitation whose code strangers have tried to guess', () => {
  let cast: Cast;
  let email: string;
  let invitation: Invitation;
  let code: string;

  beforeEach(async () => {
    cast = await anOrg(service);
    email = anEmail('guest');
    invitation = (await invite(cast.admin, cast.org, { email, showCode: false })).body.invitation;
    code = (await mailServer.next(email)).code!;
  });

  const spendTheCode = () =>
    service.db.query('UPDATE invitations SET tries = ? WHERE id = ?', [MAX_TRIES, invitation.id]);

  it('is accepted with its code after 50 wrong ones', async () => {
    const body = { email, password: aPassword(), invitationCode: '00000-00000' };
    for (const address of times(TRIES / TRIES_OF_AN_ADDRESS, (number) => `203.0.113.${number}`)) {
      const stranger = service.anyone.with({ 'x-forwarded-for': address });
      for (const expected of [...times(TRIES_OF_AN_ADDRESS, () => invalidInvitationCode), rateLimited])
        expect(await stranger.post('/api/auth/register', body)).toMatchObject(expected);
    }
    expect((await registerWith(service, email, code)).status).toBe(201);
  });

  it('is accepted after 10,000,000 wrong ones by a user who registers without and verifies the email', async () => {
    await spendTheCode();
    expect(await registerWith(service, email, code)).toMatchObject(invalidInvitationCode);
    const guest = await anAccountOf(service, email);
    expect(await accept(guest, invitation, code)).toMatchObject(invalidInvitationCode);
    expect((await guest.post('/api/me/email/verification')).status).toBe(202);
    const proof = (await mailServer.next(email, 2)).code;
    expect((await guest.post('/api/me/email/verify', { code: proof })).status).toBe(200);
    expect((await received(guest)).map(({ id }) => id)).toEqual([invitation.id]);
    expect((await accept(guest, invitation)).status).toBe(200);
    expect(await roleOf(service.db, cast.org, guest)).toBe('member');
  });

  it('is pending after 10,000,000 wrong ones for the inviter, who sends a code that works', async () => {
    await spendTheCode();
    expect(await listed(cast.admin, cast.org, 'pending')).toMatchObject([{ id: invitation.id, email }]);
    expect((await resend(cast.admin, cast.org, invitation, false)).status).toBe(200);
    const renewed = (await mailServer.next(email, 2)).code!;
    expect(renewed).not.toBe(code);
    const registered: Answer<Session> = await registerWith(service, email, renewed);
    expect(registered.status, registered.text).toBe(201);
    expect(await roleOf(service.db, cast.org, registered.body.user)).toBe('member');
    const guest = cast.admin.as(registered.body.token);
    expect((await guest.get('/api/me/account')).body).toMatchObject({ emailVerified: true });
  });
});
