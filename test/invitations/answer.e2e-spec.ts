import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  alreadyMember,
  emailNotVerified,
  invalidInvitationCode,
  invalidFields,
  invitationEnded,
  invitationNotFound,
  stepUpRequired,
  unauthorized,
} from '../support/expected.js';
import {
  accept,
  age,
  anInvitation,
  aVerifiedAccount,
  DAY_MS,
  decline,
  type Invitation,
  received,
  type ReceivedInvitation,
  registerWith,
  revoke,
  roleOf as roleIn,
  rowOf,
  verified,
} from '../support/inviting.js';
import { disable, enable } from '../support/org-members.js';
import type { Account, Cast } from '../support/personas.js';
import { anAccount, anAccountOf, anEmail, anOrg, anUnknownId, byCode, join } from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { startService } from '../support/service.js';

const WRONG = '00000-00000';

const service = await startService();
const { db } = service;
afterAll(() => service.stop());

describe('an invitation', () => {
  let cast: Cast;
  /** whose email is verified, and invited */
  let guest: Account;
  let invitation: Invitation & { code: string };
  beforeEach(async () => {
    cast = await anOrg(service);
    guest = await aVerifiedAccount(service, 'guest');
    invitation = await anInvitation(cast.admin, cast.org, guest);
  });

  const roleOf = (who: Account) => roleIn(db, cast.org, who);
  const isVerified = async (who: Account) =>
    (await who.get<{ emailVerified: boolean }>('/api/me/account')).body.emailVerified;

  /** One whose email is invited, and not proven. */
  async function aSquatter(): Promise<{ squatter: Account; pending: Invitation & { code: string } }> {
    const squatter = await anAccount(service, 'squatter');
    return { squatter, pending: await anInvitation(cast.owner, cast.org, squatter) };
  }

  it('is seen and accepted by whoever has proven the e-mail, without a code', async () => {
    const { org, admin } = cast;
    const { id, createdAt, expiresAt } = invitation;

    const invitedBy = { userId: admin.id, email: admin.email };
    expect(await received(guest)).toEqual([
      { id, org, role: 'member', status: 'pending', createdAt, expiresAt, invitedBy },
    ]);
    expect(await accept(guest, { id })).toMatchObject({ status: 200, body: { org, role: 'member' } });

    expect(await received(guest)).toEqual([]);
    expect(await roleOf(guest)).toBe('member');
    expect(await rowOf(db, { id })).toMatchObject({ status: 'accepted', pending: null });
    expect(await accept(guest, { id })).toMatchObject(alreadyMember);
    expect(await decline(guest, { id })).toMatchObject(invitationEnded);
  });

  it('is declined once, and can be made again', async () => {
    expect(await decline(guest, invitation)).toMatchObject({ status: 200, body: { ok: true } });

    expect(await decline(guest, invitation)).toMatchObject(invitationEnded);
    expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    expect(await roleOf(guest)).toBeUndefined();
    await anInvitation(cast.owner, cast.org, guest);
    expect(await received(guest)).toHaveLength(1);
  });

  it('is for nobody else', async () => {
    const { outsider } = cast;
    await verified(db, outsider);

    for (const answer of [accept, decline]) {
      expect(await answer(outsider, invitation)).toMatchObject(invitationNotFound);
      expect(await answer(outsider, invitation, invitation.code)).toMatchObject(invitationNotFound);
      for (const id of [anUnknownId(), 'x', '%00']) {
        expect(await answer(outsider, { id })).toMatchObject(invitationNotFound);
      }
    }
    expect(await received(outsider)).toEqual([]);
    expect(await rowOf(db, invitation)).toMatchObject({ status: 'pending', tries: 0 });
  });

  it('shows a squatter nothing, and does nothing for him, also once it has ended', async () => {
    const { squatter, pending } = await aSquatter();
    const expectRefusals = async () => {
      expect(await received(squatter)).toEqual([]);
      for (const answer of [accept, decline]) {
        expect(await answer(squatter, pending)).toMatchObject(emailNotVerified);
        expect(await answer(squatter, pending, WRONG)).toMatchObject(invalidInvitationCode);
      }
    };

    await expectRefusals();
    expect(await rowOf(db, pending)).toMatchObject({ status: 'pending', pending: 1 });
    expect(await roleOf(squatter)).toBeUndefined();
    await cast.owner.delete(`/api/orgs/${cast.org.id}`);
    await expectRefusals();
  });

  it('lets a shown code join that organization, and proves no e-mail', async () => {
    const email = anEmail('victim');
    const [evil, other] = [cast, await anOrg(service)];
    const fromOther = await anInvitation(other.owner, other.org, { email });
    const { code } = await anInvitation(evil.owner, evil.org, { email });

    const registered = await registerWith(service, email, code);

    expect(registered.status).toBe(201);
    const attacker = evil.owner.as(registered.body.token);
    expect(await isVerified(attacker)).toBe(false);
    expect((await attacker.get(`/api/orgs/${evil.org.id}`)).status).toBe(200);
    expect(await received(attacker)).toEqual([]);
    expect(await accept(attacker, fromOther)).toMatchObject(emailNotVerified);
    expect(await accept(attacker, fromOther, code)).toMatchObject(invalidInvitationCode);
    expect((await attacker.get(`/api/orgs/${other.org.id}`)).status).toBe(403);
  });

  it('is accepted with a shown code by an account that there is, whose e-mail stays unproven', async () => {
    const { squatter, pending } = await aSquatter();
    const typed = pending.code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l');

    expect((await accept(squatter, pending, typed)).status).toBe(200);
    expect(await isVerified(squatter)).toBe(false);
  });

  it('takes no odd code', async () => {
    const { squatter, pending } = await aSquatter();
    const odd = ['', 'x', '1234567890123', 'ÄÄÄÄÄÄÄÄÄÄ', 'U'.repeat(10), '1'.repeat(64), '1'.repeat(65)];
    for (const typed of odd)
      expect(await accept(squatter, pending, typed)).toMatchObject(invalidInvitationCode);
  });

  it('changes no membership that there is', async () => {
    const { org } = cast;
    await revoke(cast.owner, org, invitation);
    const asAdmin = await anInvitation(cast.owner, org, { email: guest.email, role: 'admin' });
    await insertRow(db, 'members', { org_id: org.id, user_id: guest.id, email: guest.email });

    expect(await accept(guest, asAdmin)).toMatchObject(alreadyMember);

    expect(await roleOf(guest)).toBe('member');
    expect(await rowOf(db, asAdmin)).toMatchObject({ status: 'pending' });
    expect((await decline(guest, asAdmin)).status).toBe(200);
  });

  it('ends: revoked, expired, or with the organization', async () => {
    const { org, owner } = cast;
    await revoke(owner, org, invitation);
    const expired = await anInvitation(owner, org, guest);
    await age(db, expired, 7 * DAY_MS);
    const gone = await anOrg(service);
    const ofTheGone = await anInvitation(gone.owner, gone.org, guest);
    await db.query('UPDATE orgs SET deleted_at = 1, purge_at = 2 WHERE id = ?', [gone.org.id]);

    for (const ended of [invitation, expired, ofTheGone]) {
      expect(await accept(guest, ended)).toMatchObject(invitationEnded);
      expect(await decline(guest, ended)).toMatchObject(invitationEnded);
    }
    expect(await received(guest)).toEqual([]);
  });

  it('is void when its inviter may not invite any more, even where nobody revoked it', async () => {
    const { org, owner, admin } = cast;
    await disable(db, admin);
    expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    await enable(db, admin);
    for (const change of ["UPDATE members SET role = 'member'", 'DELETE FROM members']) {
      await db.query(`${change} WHERE user_id = ?`, [admin.id]);
      expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    }
    await join(org, owner, admin, 'admin');
    expect((await accept(guest, invitation)).status).toBe(200);
  });

  it('needs a login by password to be answered, and none to be read', async () => {
    const derived = await byCode(service, guest);

    expect(await accept(derived, invitation)).toMatchObject(stepUpRequired);
    expect(await decline(derived, invitation)).toMatchObject(stepUpRequired);
    expect(await received(derived)).toHaveLength(1);
    expect(await service.anyone.get('/api/me/invitations')).toMatchObject(unauthorized);
    const path = `/api/me/invitations/${invitation.id}/accept`;
    expect(await service.anyone.post(path)).toMatchObject(unauthorized);
  });

  it('is not answered with what is no code', async () => {
    for (const code of [0, null, {}, [WRONG], true]) {
      for (const answer of ['accept', 'decline']) {
        const path = `/api/me/invitations/${invitation.id}/${answer}`;
        expect(await guest.post(path, { code })).toMatchObject(invalidFields('code'));
      }
    }
  });

  it('follows the e-mail, not the account', async () => {
    await db.query('UPDATE users SET email = ? WHERE id = ?', [anEmail('moved'), guest.id]);

    expect(await received(guest)).toEqual([]);
    expect(await accept(guest, invitation)).toMatchObject(invitationNotFound);

    const next = await anAccountOf(service, guest.email);
    expect(await accept(next, invitation)).toMatchObject(emailNotVerified);
    await verified(db, next);
    expect((await accept(next, invitation)).status).toBe(200);
  });

  it('is listed in pages', async () => {
    const orgs = [cast, await anOrg(service), await anOrg(service)];
    for (const { owner, org } of orgs.slice(1)) await anInvitation(owner, org, guest);
    const page = (query: string) =>
      guest.get<{ invitations: ReceivedInvitation[]; nextCursor: string }>(`/api/me/invitations?${query}`);

    const first = await page('limit=2');
    const second = await page(`limit=2&cursor=${first.body.nextCursor}`);

    const found = [...first.body.invitations, ...second.body.invitations].map(({ org }) => org.id);
    expect(found).toEqual(orgs.map(({ org }) => org.id).toReversed());
    expect(first.headers.get('link')).toContain('rel="next"');
    expect(second.body.nextCursor).toBeUndefined();
    expect(await page('limit=0')).toMatchObject(invalidFields('limit'));
  });
});
