import { pagesOf } from '../support/pages.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import {
  alreadyInvited,
  alreadyMember,
  anId,
  invalidFields,
  invitationEnded,
  invitationNotFound,
  mailUnavailable,
  tooManyInvitations,
} from '../support/expected.js';
import {
  age,
  anInvitation,
  aVerifiedAccount,
  accept,
  DAY_MS,
  decline,
  invite,
  type Invitation,
  listed,
  received,
  resend,
  revoke,
  rowOf,
  verified,
} from '../support/inviting.js';
import { addMember, changeRole, removeMember } from '../support/org-members.js';
import { anAccount, anEmail, anOrg, anOrgOf, anUnknownId, type Cast, join } from '../support/personas.js';
import { eventsSince, type KnownEvents, knownEvents } from '../support/feed.js';
import { insertRows } from '../support/rows.js';
import { startService } from '../support/service.js';

const A_CODE = expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/) as string;
const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) as string;

const service = await startService();

let cast: Cast;
beforeEach(async () => {
  cast = await anOrg(service);
});

describe('inviting', () => {
  /** As the clean-up leaves it. */
  const markExpired = ({ id }: Invitation) =>
    service.db.query("UPDATE invitations SET status = 'expired', pending = NULL WHERE id = ?", [id]);

  it('answers the invitation, for seven days, and its code only this once', async () => {
    const { org, admin } = cast;
    const email = anEmail('Grace').toUpperCase();
    const { status, body } = await invite(admin, org, { email, role: 'admin' });
    expect(status).toBe(201);
    const invitation = {
      id: anId,
      email: email.toLowerCase(),
      role: 'admin',
      status: 'pending',
      createdAt: A_TIME,
      expiresAt: A_TIME,
      invitedBy: { userId: admin.id, email: admin.email },
    };
    expect(body).toEqual({ invitation: { ...invitation, code: A_CODE } });
    const { createdAt, expiresAt, code } = body.invitation;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * DAY_MS);
    expect(await listed(admin, org)).toEqual([invitation]);
    const stored = JSON.stringify(await rowOf(service.db, body.invitation));
    expect(stored).not.toContain(code);
    expect(stored).not.toContain(code!.replace('-', ''));
  });

  it('answers the same whether or not the e-mail has an account', async () => {
    const { org, owner } = cast;
    const answers = [];
    for (const invited of [{ email: anEmail() }, await anAccount(service), await aVerifiedAccount(service)]) {
      const both = [await invite(owner, org, invited), await invite(owner, org, invited)];
      answers.push(both.map(({ status, body }) => ({ status, fields: Object.keys(body) })));
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('refuses a member, and an e-mail that is invited', async () => {
    const { org, owner, member } = cast;
    const email = anEmail();
    expect(await invite(owner, org, { email: member.email })).toMatchObject(alreadyMember);
    await anInvitation(owner, org, { email });
    expect(await invite(owner, org, { email, role: 'admin' })).toMatchObject(alreadyInvited);
    expect(await listed(owner, org)).toHaveLength(1);
    expect((await invite(cast.outsider, await anOrgOf(cast.outsider), { email })).status).toBe(201);
  });

  it('takes no other role, no odd e-mail, and no odd wish', async () => {
    const path = `/api/orgs/${cast.org.id}/invitations`;
    const email = anEmail();
    const send = (body: object) => cast.owner.post(path, body);
    expect(await send({})).toMatchObject(invalidFields('email', 'role'));
    for (const role of ['owner', 'Admin', '', 0, ['member'], null])
      expect(await send({ email, role })).toMatchObject(invalidFields('role'));
    for (const odd of ['a\u200b@b.co', 'a@b', `${'a'.repeat(65)}@b.co`, { $ne: '' }, 'a@b.co\r\nBcc: x@y.zz'])
      expect(await send({ email: odd, role: 'member' })).toMatchObject(invalidFields('email'));
    for (const showCode of ['true', 1, null, {}])
      expect(await send({ email, role: 'member', showCode })).toMatchObject(invalidFields('showCode'));
    expect(await listed(cast.owner, cast.org)).toEqual([]);
  });

  it('mails nothing where there is no mail server', async () => {
    const { org, owner } = cast;
    const invitation = await anInvitation(owner, org, { email: anEmail() });
    const path = `/api/orgs/${org.id}/invitations/${invitation.id}/resend`;
    expect(await invite(owner, org, { email: anEmail(), showCode: false })).toMatchObject(mailUnavailable);
    expect(await resend(owner, org, invitation, false)).toMatchObject(mailUnavailable);
    expect(await owner.post(path)).toMatchObject(mailUnavailable);
    expect(await listed(owner, org)).toHaveLength(1);
  });

  it('reaches only invitations of that organization', async () => {
    const { org, owner } = cast;
    const other = await anOrg(service);
    const invitation = await anInvitation(other.owner, other.org, { email: anEmail() });
    expect(await resend(owner, org, invitation)).toMatchObject(invitationNotFound);
    expect(await revoke(owner, org, invitation)).toMatchObject(invitationNotFound);
    for (const id of ['x', anUnknownId(), '%00', '..%2f']) {
      expect(await resend(owner, org, { id })).toMatchObject(invitationNotFound);
      expect(await revoke(owner, org, { id })).toMatchObject(invitationNotFound);
    }
    expect(await listed(other.owner, other.org, 'pending')).toHaveLength(1);
  });

  it('can be resent: a new code, seven more days, and the one who resends it invites', async () => {
    const { org, owner, admin } = cast;
    const guest = await anAccount(service);
    const first = await anInvitation(owner, org, guest);
    await age(service.db, first, 6 * DAY_MS);
    const { status, body } = await resend(admin, org, first);
    expect(status).toBe(200);
    const second = body.invitation as Invitation & { code: string };
    expect(second).toMatchObject({ id: first.id, status: 'pending', invitedBy: { userId: admin.id } });
    expect(second.code).not.toBe(first.code);
    expect(Date.parse(second.expiresAt) - Date.now()).toBeGreaterThan(6 * DAY_MS);
    expect(await accept(guest, first, first.code)).toMatchObject({ status: 400 });
    expect(await accept(guest, first, second.code)).toMatchObject({ status: 200 });
  });

  it('can be resent and revoked while it is pending or expired, and in no other state', async () => {
    const { org, owner } = cast;
    const [guest, other] = [await aVerifiedAccount(service), await aVerifiedAccount(service)];
    const accepted = await anInvitation(owner, org, guest);
    const declined = await anInvitation(owner, org, other);
    const revoked = await anInvitation(owner, org, { email: anEmail() });
    const pending = await anInvitation(owner, org, { email: anEmail() });
    const expired = await anInvitation(owner, org, { email: anEmail() });
    const stale = await anInvitation(owner, org, { email: anEmail() });
    await accept(guest, accepted);
    await decline(other, declined);
    expect(await revoke(owner, org, revoked)).toMatchObject({ status: 200, body: { ok: true } });
    for (const old of [expired, stale]) await age(service.db, old, 8 * DAY_MS);
    await markExpired(expired);
    for (const ended of [accepted, declined, revoked]) {
      expect(await resend(owner, org, ended)).toMatchObject(invitationEnded);
      expect(await revoke(owner, org, ended)).toMatchObject(invitationEnded);
    }
    for (const open of [pending, expired, stale]) {
      expect((await resend(owner, org, open)).status).toBe(200);
      await age(service.db, open, 8 * DAY_MS);
      expect((await revoke(owner, org, open)).status).toBe(200);
      expect(await rowOf(service.db, open)).toMatchObject({ status: 'revoked', pending: null });
    }
  });

  it('begins anew when the one before has expired', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service);
    const old = await anInvitation(owner, org, guest);
    await age(service.db, old, 7 * DAY_MS);
    const next = await anInvitation(owner, org, { email: guest.email, role: 'admin' });
    expect(next.id).not.toBe(old.id);
    expect(await rowOf(service.db, old)).toMatchObject({ status: 'expired', pending: null });
    // Of two for one email only one can be good.
    expect(await resend(owner, org, old)).toMatchObject(alreadyInvited);
    expect((await received(guest)).map(({ id, role }) => [id, role])).toEqual([[next.id, 'admin']]);
  });

  it('is not resent to somebody who is a member by now', async () => {
    const { org, owner, outsider } = cast;
    const invitation = await anInvitation(owner, org, outsider);
    await age(service.db, invitation, 8 * DAY_MS);
    await markExpired(invitation);
    await addMember(owner, org, outsider);
    expect(await resend(owner, org, invitation)).toMatchObject(alreadyMember);
  });

  it('is listed by status and in pages, the latest first; by the time, not by the clean-up', async () => {
    const { org, owner } = cast;
    const all = [];
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      all.push(await anInvitation(owner, org, { email: anEmail(name) }));
    const [revoked, expired, stale, ...pending] = all;
    await revoke(owner, org, revoked!);
    for (const old of [expired!, stale!]) await age(service.db, old, 8 * DAY_MS);
    await markExpired(expired!);
    const ids = (list: { id: string }[]) => list.map(({ id }) => id);
    expect(ids(await listed(owner, org, 'pending'))).toEqual(ids(pending).toReversed());
    expect(ids(await listed(owner, org, 'expired'))).toEqual([stale!.id, expired!.id]);
    expect(ids(await listed(owner, org, 'revoked'))).toEqual([revoked!.id]);
    expect(await listed(owner, org, 'accepted')).toEqual([]);
    expect(ids(await listed(owner, org))).toEqual(ids(all).toReversed());
    const statuses = (await listed(owner, org)).map(({ status }) => status);
    expect(statuses.join()).toBe('pending,pending,expired,expired,revoked');
    const pages = await pagesOf<Invitation>(owner, `/api/orgs/${org.id}/invitations?limit=2`, 'invitations');
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(ids(pages.flat())).toEqual(ids(all).toReversed());
  });

  it.each(['limit=0', 'limit=1e3', 'cursor=x', 'status=open', 'status=', 'status=pending&status=expired'])(
    'is not listed by %s',
    async (query) => {
      const path = `/api/orgs/${cast.org.id}/invitations?${query}`;
      expect(await cast.owner.get(path)).toMatchObject(invalidFields(query.split('=')[0]!));
    },
  );

  it('is refused while 1,000 are pending; those that have expired do not count', async () => {
    const { org, owner } = cast;
    const ids = times(1000, () => ({ id: anUnknownId() }));
    const [first] = ids as [{ id: string }];
    const moments = { created_at: Date.now(), expires_at: Date.now() + DAY_MS };
    await insertRows(service.db, 'invitations', ids, { org_id: org.id, invited_by: owner.id, ...moments });
    const email = anEmail();
    expect(await invite(owner, org, { email })).toMatchObject(tooManyInvitations);
    await age(service.db, first, 2 * DAY_MS);
    const last = await anInvitation(owner, org, { email });
    expect(await invite(owner, org, { email: anEmail() })).toMatchObject(tooManyInvitations);
    expect(await rowOf(service.db, first)).toMatchObject({ status: 'expired' });
    // An expired one that is resent is one more.
    expect(await resend(owner, org, first)).toMatchObject(tooManyInvitations);
    expect((await resend(owner, org, last)).status).toBe(200);
    await revoke(owner, org, last);
    expect((await resend(owner, org, first)).status).toBe(200);
  });
});

describe('an inviter', () => {
  let own: Invitation[];
  let ofTheOwner: Invitation;
  let known: KnownEvents;

  beforeEach(async () => {
    const { org, owner, admin } = cast;
    own = [
      await anInvitation(admin, org, { email: anEmail(), role: 'admin' }),
      await anInvitation(admin, org, { email: anEmail() }),
    ];
    ofTheOwner = await anInvitation(owner, org, { email: anEmail() });
    known = await knownEvents(service.db);
  });

  async function expectRevoked(reason: string): Promise<void> {
    for (const { id } of own) {
      const ended_at = expect.any(Number) as number;
      expect(await rowOf(service.db, { id })).toMatchObject({ status: 'revoked', pending: null, ended_at });
    }
    expect(await rowOf(service.db, ofTheOwner)).toMatchObject({ status: 'pending', pending: 1 });
    const events = (await eventsSince(service.db, known)).filter(({ type }) => type === 'invitation.revoked');
    expect(events.map(({ data, org_id, user_id }) => ({ data, org_id, user_id }))).toEqual(
      expect.arrayContaining(
        own.map(({ id, role }) => ({
          data: { invitationId: id, role, reason },
          org_id: cast.org.id,
          user_id: null,
        })),
      ),
    );
    expect(events).toHaveLength(own.length);
  }

  it.each<[string, string, (cast: Cast) => Promise<Answer>]>([
    ['is removed', 'inviter_removed', ({ org, owner, admin }) => removeMember(owner, org, admin)],
    ['goes', 'inviter_left', ({ org, admin }) => removeMember(admin, org, admin)],
    ['leaves', 'inviter_left', ({ org, admin }) => admin.post(`/api/orgs/${org.id}/leave`)],
    [
      'becomes a member',
      'inviter_demoted',
      ({ org, owner, admin }) => changeRole(owner, org, admin, 'member'),
    ],
    [
      'deletes the account',
      'inviter_deleted',
      ({ admin }) => admin.delete('/api/me', { password: admin.password }),
    ],
  ])('who %s loses the pending invitations', async (_what, reason, go) => {
    expect((await go(cast)).status).toBe(200);
    await expectRevoked(reason);
    const { invitedBy } = (await listed(cast.owner, cast.org)).find(({ id }) => id === own[0]!.id)!;
    const email = reason === 'inviter_deleted' ? null : cast.admin.email;
    expect(invitedBy).toEqual({ userId: cast.admin.id, email });
  });

  it('who becomes an owner, and an admin again, keeps them', async () => {
    for (const role of ['owner', 'admin']) {
      await changeRole(cast.owner, cast.org, cast.admin, role);
      expect(await listed(cast.owner, cast.org, 'pending')).toHaveLength(3);
    }
  });

  it('who is disabled loses them, in organizations of others, too', async () => {
    const { code, stderr } = await accounts(service.installation, ['users', 'disable', cast.admin.email]);
    expect([code, stderr]).toEqual([0, '']);
    await expectRevoked('inviter_disabled');
  });

  it('leaves the invitations that somebody else has resent', async () => {
    const { org, owner, admin } = cast;
    const [first] = own;
    await resend(owner, org, first!);
    await removeMember(owner, org, admin);
    expect((await listed(owner, org, 'pending')).map(({ id }) => id)).toEqual([ofTheOwner.id, first!.id]);
  });

  it('of somebody who is added has not to invite any more', async () => {
    const { org, owner, outsider, admin } = cast;
    const invitation = await anInvitation(admin, org, { email: outsider.email, role: 'admin' });
    await join(org, owner, outsider, 'member');
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'revoked', pending: null });
    const event = (await eventsSince(service.db, known)).find(({ type }) => type === 'invitation.revoked');
    expect(event!.data).toEqual({ invitationId: invitation.id, role: 'admin', reason: 'member_added' });
    await verified(service.db, outsider);
    expect(await accept(outsider, invitation)).toMatchObject({ status: 409 });
  });

  it('of somebody whom an operator makes an owner, too', async () => {
    const { org, admin, outsider } = cast;
    const invitation = await anInvitation(admin, org, outsider);
    const args = ['orgs', 'add-owner', org.id, outsider.email, '--force', '--reason', 'lost'];
    expect((await accounts(service.installation, args)).code).toBe(0);
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'revoked' });
  });

  it('does not lose, nor does the invited, what a deleted account of that e-mail did not answer', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service);
    const squatter = await anAccount(service);
    const [kept, ended] = [
      await anInvitation(owner, org, guest),
      await anInvitation(cast.admin, org, squatter),
    ];
    await revoke(owner, org, ended);
    const other = await anOrg(service);
    const declined = await anInvitation(other.owner, other.org, guest);
    await decline(guest, declined);
    for (const who of [guest, squatter]) await who.delete('/api/me', { password: who.password });
    expect(await rowOf(service.db, kept)).toMatchObject({ status: 'pending' });
    expect(await rowOf(service.db, declined)).toBeUndefined();
    // A squatter's deletion takes nothing from an organization.
    expect(await rowOf(service.db, ended)).toMatchObject({ status: 'revoked' });
  });
});
