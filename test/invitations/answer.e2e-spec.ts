import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  alreadyMember,
  emailNotVerified,
  invalidCode,
  invalidFields,
  invitationEnded,
  invitationNotFound,
  passwordSessionRequired,
  tooManyOrgs,
  unauthorized,
} from '../support/expected.js';
import {
  accept,
  age,
  anInvitation,
  aVerifiedAccount,
  DAY_MS,
  decline,
  received,
  registerWith,
  revoke,
  roleOf,
  rowOf,
  verified,
} from '../support/inviting.js';
import {
  type Account,
  aCode,
  anAccount,
  anAccountOf,
  anEmail,
  anOrg,
  anOrgOf,
  anUnknownId,
  type Cast,
  join,
} from '../support/personas.js';
import { startService } from '../support/service.js';

const WRONG = '00000-00000';

const service = await startService();
afterAll(() => service.stop());

describe('an invitation', () => {
  let cast: Cast;
  beforeEach(async () => {
    cast = await anOrg(service);
  });

  it('is seen and accepted by whoever has proven the e-mail, without a code', async () => {
    const { org, admin } = cast;
    const guest = await aVerifiedAccount(service, 'guest');
    const { id, createdAt, expiresAt } = await anInvitation(admin, org, {
      email: guest.email,
      role: 'admin',
    });

    const invitedBy = { userId: admin.id, email: admin.email };
    expect(await received(guest)).toEqual([
      {
        id,
        org: { id: org.id, name: org.name },
        role: 'admin',
        status: 'pending',
        createdAt,
        expiresAt,
        invitedBy,
      },
    ]);
    expect(await accept(guest, { id })).toMatchObject({
      status: 200,
      body: { org: { id: org.id, name: org.name }, role: 'admin' },
    });

    expect(await received(guest)).toEqual([]);
    expect(await roleOf(service.db, org, guest)).toBe('admin');
    expect(await rowOf(service.db, { id })).toMatchObject({ status: 'accepted', pending: null });
    expect(await accept(guest, { id })).toMatchObject(alreadyMember);
    expect(await decline(guest, { id })).toMatchObject(invitationEnded);
  });

  it('is declined once, and can be made again', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service, 'guest');
    const invitation = await anInvitation(owner, org, { email: guest.email });

    expect(await decline(guest, invitation)).toMatchObject({ status: 200, body: { ok: true } });

    expect(await decline(guest, invitation)).toMatchObject(invitationEnded);
    expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    expect(await roleOf(service.db, org, guest)).toBeUndefined();
    await anInvitation(owner, org, { email: guest.email });
    expect(await received(guest)).toHaveLength(1);
  });

  it('is for nobody else', async () => {
    const { org, owner, outsider } = cast;
    const invitation = await anInvitation(owner, org, { email: anEmail() });
    await verified(service.db, outsider);

    for (const answer of [accept, decline]) {
      expect(await answer(outsider, invitation)).toMatchObject(invitationNotFound);
      expect(await answer(outsider, invitation, invitation.code)).toMatchObject(invitationNotFound);
      for (const id of [anUnknownId(), 'x', '%00']) {
        expect(await answer(outsider, { id })).toMatchObject(invitationNotFound);
      }
    }
    expect(await received(outsider)).toEqual([]);
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'pending', tries: 0 });
  });

  it('shows a squatter nothing, and does nothing for him', async () => {
    const { org, owner } = cast;
    const squatter = await anAccount(service, 'victim');
    const invitation = await anInvitation(owner, org, { email: squatter.email });

    expect(await received(squatter)).toEqual([]);
    expect(await accept(squatter, invitation)).toMatchObject(emailNotVerified);
    expect(await decline(squatter, invitation)).toMatchObject(emailNotVerified);
    expect(await accept(squatter, invitation, WRONG)).toMatchObject(invalidCode);
    expect(await decline(squatter, invitation, WRONG)).toMatchObject(invalidCode);

    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'pending', pending: 1 });
    expect(await roleOf(service.db, org, squatter)).toBeUndefined();
  });

  it('lets a shown code join that organization, and proves no e-mail', async () => {
    const email = anEmail('victim');
    const [evil, other] = [cast, await anOrg(service)];
    const fromOther = await anInvitation(other.owner, other.org, { email });
    const invitation = await anInvitation(evil.owner, evil.org, { email });

    const registered = await registerWith(service, email, invitation.code);

    expect(registered.status).toBe(201);
    const attacker = evil.owner.as(registered.body.token);
    expect((await attacker.get<{ emailVerified: boolean }>('/api/me/account')).body.emailVerified).toBe(
      false,
    );
    expect((await attacker.get(`/api/orgs/${evil.org.id}`)).status).toBe(200);
    expect(await received(attacker)).toEqual([]);
    expect(await accept(attacker, fromOther)).toMatchObject(emailNotVerified);
    expect(await accept(attacker, fromOther, invitation.code)).toMatchObject(invalidCode);
    expect((await attacker.get(`/api/orgs/${other.org.id}`)).status).toBe(403);
  });

  it('is accepted with a shown code by an account that there is, whose e-mail stays unproven', async () => {
    const { org, owner } = cast;
    const guest = await anAccount(service, 'guest');
    const invitation = await anInvitation(owner, org, { email: guest.email });
    const typed = invitation.code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l');

    expect((await accept(guest, invitation, typed)).status).toBe(200);

    const { body } = await guest.get<{ emailVerified: boolean }>('/api/me/account');
    expect(body.emailVerified).toBe(false);
  });

  it('takes at most 50 codes, until there is a new one', async () => {
    const { org, owner } = cast;
    const guest = await anAccount(service, 'guest');
    const invitation = await anInvitation(owner, org, { email: guest.email });
    const odd = ['', 'x', '1234567890123', 'ÄÄÄÄÄÄÄÄÄÄ', 'U'.repeat(10), '1'.repeat(64), '1'.repeat(65)];
    for (const typed of odd) expect(await accept(guest, invitation, typed)).toMatchObject(invalidCode);
    for (let tries = 0; tries < 50; tries += 1) {
      expect(await accept(guest, invitation, WRONG)).toMatchObject(invalidCode);
    }

    expect(await accept(guest, invitation, invitation.code)).toMatchObject(invalidCode);

    const { body } = await owner.post<{ invitation: { code: string } }>(
      `/api/orgs/${org.id}/invitations/${invitation.id}/resend`,
      { showCode: true },
    );
    expect((await accept(guest, invitation, body.invitation.code)).status).toBe(200);
  });

  it('changes no membership that there is', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service, 'guest');
    const invitation = await anInvitation(owner, org, { email: guest.email, role: 'admin' });
    await service.db.query(
      "INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'member', 1)",
      [org.id, guest.id, guest.email],
    );

    expect(await accept(guest, invitation)).toMatchObject(alreadyMember);

    expect(await roleOf(service.db, org, guest)).toBe('member');
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'pending' });
    expect((await decline(guest, invitation)).status).toBe(200);
  });

  it('ends: revoked, expired, or with the organization', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service, 'guest');
    const revoked = await anInvitation(owner, org, { email: guest.email });
    await revoke(owner, org, revoked);
    const expired = await anInvitation(owner, org, { email: guest.email });
    await age(service.db, expired, 7 * DAY_MS);
    const gone = await anOrg(service);
    const ofTheGone = await anInvitation(gone.owner, gone.org, { email: guest.email });
    await service.db.query('UPDATE orgs SET deleted_at = 1, purge_at = 2 WHERE id = ?', [gone.org.id]);

    for (const invitation of [revoked, expired, ofTheGone]) {
      expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
      expect(await decline(guest, invitation)).toMatchObject(invitationEnded);
    }
    expect(await received(guest)).toEqual([]);
  });

  it('tells nobody that it has ended who has not shown that the e-mail is theirs', async () => {
    const { org, owner } = await anOrg(service);
    const squatter = await anAccount(service);
    const invitation = await anInvitation(owner, org, { email: squatter.email });
    await owner.delete(`/api/orgs/${org.id}`);

    for (const answer of [accept, decline]) {
      expect(await answer(squatter, invitation)).toMatchObject(emailNotVerified);
      expect(await answer(squatter, invitation, '00000-00000')).toMatchObject(invalidCode);
    }
  });

  it('is void when its inviter may not invite any more, even where nobody revoked it', async () => {
    const { org, owner, admin } = cast;
    const guest = await aVerifiedAccount(service, 'guest');
    const invitation = await anInvitation(admin, org, { email: guest.email });
    const set = (sql: string, values: string[]) => service.db.query(sql, values);

    await set('UPDATE users SET disabled_at = 1 WHERE id = ?', [admin.id]);
    expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    await set('UPDATE users SET disabled_at = NULL WHERE id = ?', [admin.id]);
    await set("UPDATE members SET role = 'member' WHERE user_id = ?", [admin.id]);
    expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    await set('DELETE FROM members WHERE user_id = ?', [admin.id]);
    expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    await join(org, owner, admin, 'admin');
    expect((await accept(guest, invitation)).status).toBe(200);
  });

  it('is no way around the limit of organizations', async () => {
    const small = await startService({ env: { MAX_ORGS_PER_USER: '1' } });
    try {
      const [inviter, guest] = [await anAccount(small), await aVerifiedAccount(small, 'guest')];
      const full = await anOrgOf(inviter);
      await anOrgOf(guest);
      const invitation = await anInvitation(inviter, full, { email: guest.email });

      expect(await accept(guest, invitation)).toMatchObject(tooManyOrgs);

      expect(await rowOf(small.db, invitation)).toMatchObject({ status: 'pending', pending: 1 });
      expect(await roleOf(small.db, full, guest)).toBe(undefined);
      expect(await received(guest)).toMatchObject([{ id: invitation.id, status: 'pending' }]);
    } finally {
      await small.stop();
    }
  });

  it('needs a login by password to be answered, and none to be read', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service, 'guest');
    const invitation = await anInvitation(owner, org, { email: guest.email });
    const { body } = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', {
      code: await aCode(guest),
    });
    const derived: Account = guest.as(body.token);

    expect(await accept(derived, invitation)).toMatchObject(passwordSessionRequired);
    expect(await decline(derived, invitation)).toMatchObject(passwordSessionRequired);
    expect(await received(derived)).toHaveLength(1);
    for (const path of ['', `/${invitation.id}/accept`]) {
      const method = path === '' ? 'GET' : 'POST';
      expect(await service.anyone.send(method, `/api/me/invitations${path}`)).toMatchObject(unauthorized);
    }
  });

  it.each([0, null, {}, [WRONG], true])('is not answered with the code %j', async (code) => {
    const guest = await aVerifiedAccount(service, 'guest');
    const invitation = await anInvitation(cast.owner, cast.org, { email: guest.email });
    for (const answer of ['accept', 'decline']) {
      const path = `/api/me/invitations/${invitation.id}/${answer}`;
      expect(await guest.post(path, { code })).toMatchObject(invalidFields('code'));
    }
  });

  it('follows the e-mail, not the account', async () => {
    const { org, owner } = cast;
    const guest = await aVerifiedAccount(service, 'guest');
    const email = guest.email;
    const invitation = await anInvitation(owner, org, { email });
    await service.db.query('UPDATE users SET email = ? WHERE id = ?', [anEmail('moved'), guest.id]);

    expect(await received(guest)).toEqual([]);
    expect(await accept(guest, invitation)).toMatchObject(invitationNotFound);

    const next = await anAccountOf(service, email);
    expect(await accept(next, invitation)).toMatchObject(emailNotVerified);
    await verified(service.db, next);
    expect((await accept(next, invitation)).status).toBe(200);
  });

  it('is listed in pages', async () => {
    const guest = await aVerifiedAccount(service, 'guest');
    const orgs = [cast, await anOrg(service), await anOrg(service)];
    for (const { owner, org } of orgs) await anInvitation(owner, org, { email: guest.email });

    const first = await guest.get<{ invitations: { org: { id: string } }[]; nextCursor: string }>(
      '/api/me/invitations?limit=2',
    );
    const second = await guest.get<typeof first.body>(
      `/api/me/invitations?limit=2&cursor=${first.body.nextCursor}`,
    );

    const found = [...first.body.invitations, ...second.body.invitations].map(({ org }) => org.id);
    expect(found).toEqual(orgs.map(({ org }) => org.id).toReversed());
    expect(first.headers.get('link')).toContain('rel="next"');
    expect(second.body.nextCursor).toBeUndefined();
    expect(await guest.get('/api/me/invitations?limit=0')).toMatchObject(invalidFields('limit'));
  });
});
