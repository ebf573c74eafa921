import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  alreadyInvited,
  alreadyMember,
  anId,
  insufficientRole,
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
} from '../support/inviting.js';
import { anAccount, anEmail, anOrg, anOrgOf, anUnknownId, type Cast } from '../support/personas.js';
import { startService } from '../support/service.js';

const A_CODE = expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/) as string;
const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) as string;

const service = await startService();
afterAll(() => service.stop());

describe('inviting', () => {
  let cast: Cast;
  beforeEach(async () => {
    cast = await anOrg(service);
  });

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
    const [unknown, known, ofAVerified] = [
      anEmail('someone'),
      (await anAccount(service)).email,
      (await aVerifiedAccount(service)).email,
    ];

    const answers = [];
    for (const email of [unknown, known, ofAVerified]) {
      const first = await invite(owner, org, { email });
      const again = await invite(owner, org, { email });
      answers.push([first, again].map(({ status, body }) => ({ status, fields: Object.keys(body) })));
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
    for (const role of ['owner', 'Admin', '', 0, ['member'], null]) {
      expect(await send({ email, role })).toMatchObject(invalidFields('role'));
    }
    for (const odd of [
      'a\u200b@b.co',
      'a@b',
      `${'a'.repeat(65)}@b.co`,
      { $ne: '' },
      'a@b.co\r\nBcc: x@y.zz',
    ]) {
      expect(await send({ email: odd, role: 'member' })).toMatchObject(invalidFields('email'));
    }
    for (const showCode of ['true', 1, null, {}]) {
      expect(await send({ email, role: 'member', showCode })).toMatchObject(invalidFields('showCode'));
    }
    expect(await listed(cast.owner, cast.org)).toEqual([]);
  });

  it('mails nothing where there is no mail server', async () => {
    const { org, owner } = cast;
    const email = anEmail();
    const invitation = await anInvitation(owner, org, { email });
    const path = `/api/orgs/${org.id}/invitations`;

    expect(await invite(owner, org, { email: anEmail(), showCode: false })).toMatchObject(mailUnavailable);
    expect(await resend(owner, org, invitation, false)).toMatchObject(mailUnavailable);
    expect(await owner.post(`${path}/${invitation.id}/resend`)).toMatchObject(mailUnavailable);
    expect(await listed(owner, org)).toHaveLength(1);
  });

  it('is for admins of that organization', async () => {
    const { org, owner, member } = cast;
    const other = await anOrg(service);
    const invitation = await anInvitation(other.owner, other.org, { email: anEmail() });

    expect(await invite(member, org, { email: anEmail() })).toMatchObject(
      insufficientRole('admin', 'member'),
    );
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
    const first = await anInvitation(owner, org, { email: guest.email });
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
    const [one, two, three, four] = [anEmail(), anEmail(), anEmail(), anEmail()];
    const [guest, other] = [await aVerifiedAccount(service), await aVerifiedAccount(service)];
    const accepted = await anInvitation(owner, org, { email: guest.email });
    const declined = await anInvitation(owner, org, { email: other.email });
    const revoked = await anInvitation(owner, org, { email: one });
    const pending = await anInvitation(owner, org, { email: two });
    const [expired, stale] = [
      await anInvitation(owner, org, { email: three }),
      await anInvitation(owner, org, { email: four }),
    ];
    await accept(guest, accepted);
    await decline(other, declined);
    expect(await revoke(owner, org, revoked)).toMatchObject({ status: 200, body: { ok: true } });
    for (const old of [expired, stale]) await age(service.db, old, 8 * DAY_MS);
    await service.db.query("UPDATE invitations SET status = 'expired', pending = NULL WHERE id = ?", [
      expired.id,
    ]);

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
    const old = await anInvitation(owner, org, { email: guest.email });
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
    const invitation = await anInvitation(owner, org, { email: outsider.email });
    await age(service.db, invitation, 8 * DAY_MS);
    await service.db.query("UPDATE invitations SET status = 'expired', pending = NULL WHERE id = ?", [
      invitation.id,
    ]);
    await owner.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role: 'member' });

    expect(await resend(owner, org, invitation)).toMatchObject(alreadyMember);
  });

  it('is listed by status and in pages, the latest first; by the time, not by the clean-up', async () => {
    const { org, owner } = cast;
    const all = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      all.push(await anInvitation(owner, org, { email: anEmail(name) }));
    }
    const [revoked, expired, stale, ...pending] = all;
    await revoke(owner, org, revoked!);
    for (const old of [expired!, stale!]) await age(service.db, old, 8 * DAY_MS);
    await service.db.query("UPDATE invitations SET status = 'expired', pending = NULL WHERE id = ?", [
      expired!.id,
    ]);
    const ids = (list: { id: string }[]) => list.map(({ id }) => id);

    expect(ids(await listed(owner, org, 'pending'))).toEqual(ids(pending).toReversed());
    expect(ids(await listed(owner, org, 'expired'))).toEqual([stale!.id, expired!.id]);
    expect(ids(await listed(owner, org, 'revoked'))).toEqual([revoked!.id]);
    expect(await listed(owner, org, 'accepted')).toEqual([]);
    expect(ids(await listed(owner, org))).toEqual(ids(all).toReversed());
    expect((await listed(owner, org)).map(({ status }) => status)).toEqual([
      'pending',
      'pending',
      'expired',
      'expired',
      'revoked',
    ]);

    const found: string[] = [];
    let path = `/api/orgs/${org.id}/invitations?limit=2`;
    for (let pages = 0; pages < 3; pages += 1) {
      const { body, headers } = await owner.get<{ invitations: Invitation[]; nextCursor?: string }>(path);
      found.push(...ids(body.invitations));
      expect(headers.get('link') === null).toBe(pages === 2);
      expect(body.nextCursor === undefined).toBe(pages === 2);
      path = `/api/orgs/${org.id}/invitations?limit=2&cursor=${body.nextCursor}`;
    }
    expect(found).toEqual(ids(all).toReversed());
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
    const now = Date.now();
    const ids = Array.from({ length: 1000 }, () => anUnknownId());
    for (let from = 0; from < ids.length; from += 500) {
      const rows = ids.slice(from, from + 500);
      await service.db.query(
        `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
           created_at, expires_at) VALUES ${rows.map(() => "(?, ?, ?, 'member', 'pending', 1, 1, 1, ?, ?, ?)").join()}`,
        rows.flatMap((id) => [id, org.id, `${id}@example.com`, owner.id, now, now + DAY_MS]),
      );
    }
    const email = anEmail();
    expect(await invite(owner, org, { email })).toMatchObject(tooManyInvitations);

    await age(service.db, { id: ids[0]! }, 2 * DAY_MS);
    const last = await anInvitation(owner, org, { email });
    expect(await invite(owner, org, { email: anEmail() })).toMatchObject(tooManyInvitations);
    expect(await rowOf(service.db, { id: ids[0]! })).toMatchObject({ status: 'expired' });
    // An expired one that is resent is one more.
    expect(await resend(owner, org, { id: ids[0]! })).toMatchObject(tooManyInvitations);
    expect((await resend(owner, org, last)).status).toBe(200);
    await revoke(owner, org, last);
    expect((await resend(owner, org, { id: ids[0]! })).status).toBe(200);
  });
});
