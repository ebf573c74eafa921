import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { times } from '../support/at-once.js';
import {
  alreadyMember,
  bodyTooLarge,
  idempotencyKeyReused,
  invalidCode,
  invalidFields,
  invitationEnded,
  passwordSessionRequired,
  rateLimited,
  unauthorized,
} from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import {
  accept,
  acceptByCode,
  age,
  anInvitation,
  aVerifiedAccount,
  DAY_MS,
  declineByCode,
  resend,
  revoke,
  roleOf,
  rowOf,
  verified,
} from '../support/inviting.js';
import {
  type Account,
  anAccount,
  anAccountOf,
  anEmail,
  anOrg,
  anOrgOf,
  anUnknownId,
  byCode,
  type Cast,
} from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { startService } from '../support/service.js';

const WRONG = '00000-00000';
const ANSWERS = [
  ['accept', acceptByCode],
  ['decline', declineByCode],
] as const;

const service = await startService();
afterAll(() => service.stop());

describe('an invitation that is answered with its code alone', () => {
  let cast: Cast;
  let guest: Account;
  beforeEach(async () => {
    cast = await anOrg(service);
    guest = await anAccount(service, 'guest');
  });

  const isVerified = async (who: Account): Promise<boolean> =>
    (await who.get<{ emailVerified: boolean }>('/api/me/account')).body.emailVerified;

  it('lets an account join whose e-mail is not verified, and proves none where the code was shown', async () => {
    const { org, admin } = cast;
    const invitation = await anInvitation(admin, org, { email: guest.email, role: 'admin' });
    const typed = ` ${invitation.code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}`;
    const known = await knownEvents(service.db);

    const answer = await acceptByCode(guest, typed);

    expect(answer).toMatchObject({
      status: 200,
      body: { org: { id: org.id, name: org.name }, role: 'admin' },
    });
    expect(await roleOf(service.db, org, guest)).toBe('admin');
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'accepted', pending: null });
    expect(await isVerified(guest)).toBe(false);
    const by = { actor_type: 'user', actor_id: guest.id, org_id: org.id, user_id: guest.id, reason: null };
    expect(await eventsSince(service.db, known)).toEqual([
      { ...by, type: 'invitation.accepted', data: { invitationId: invitation.id, role: 'admin' } },
      { ...by, type: 'member.added', data: { role: 'admin', via: 'invitation' } },
    ]);
    expect(await acceptByCode(guest, invitation.code)).toMatchObject(invalidCode);
  });

  it('verifies the e-mail of an account that enters a mailed code', async () => {
    const invitation = await anInvitation(cast.owner, cast.org, { email: guest.email });
    await service.db.query('UPDATE invitations SET code_shown = 0 WHERE id = ?', [invitation.id]);

    expect((await acceptByCode(guest, invitation.code)).status).toBe(200);

    expect(await isVerified(guest)).toBe(true);
  });

  it('is declined, and can be made again', async () => {
    const { org, owner } = cast;
    const invitation = await anInvitation(owner, org, { email: guest.email });
    const known = await knownEvents(service.db);

    expect(await declineByCode(guest, invitation.code)).toMatchObject({ status: 200, body: { ok: true } });

    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'declined', pending: null });
    expect(await roleOf(service.db, org, guest)).toBeUndefined();
    expect(await isVerified(guest)).toBe(false);
    expect(await eventsSince(service.db, known)).toMatchObject([
      { type: 'invitation.declined', actor_id: guest.id, org_id: org.id },
    ]);
    expect(await declineByCode(guest, invitation.code)).toMatchObject(invalidCode);
    const again = await anInvitation(owner, org, { email: guest.email });
    expect((await acceptByCode(guest, again.code)).status).toBe(200);
  });

  it.each(ANSWERS)(
    'is not found to %s by a wrong, old, revoked or expired code, or for another e-mail',
    async (_, answer) => {
      const { org, owner, outsider } = cast;
      const others = times(3, () => anOrg(service));
      const [revokedIn, expiredIn, resentIn] = await Promise.all(others);
      const email = guest.email;
      const [pending, revoked, expired, old] = [
        await anInvitation(owner, org, { email }),
        await anInvitation(revokedIn!.owner, revokedIn!.org, { email }),
        await anInvitation(expiredIn!.owner, expiredIn!.org, { email }),
        await anInvitation(resentIn!.owner, resentIn!.org, { email }),
      ];
      await revoke(revokedIn!.owner, revokedIn!.org, revoked);
      await age(service.db, expired, 7 * DAY_MS);
      await resend(resentIn!.owner, resentIn!.org, old);
      await verified(service.db, guest);

      for (const code of [WRONG, revoked.code, expired.code, old.code, '', 'what?']) {
        expect(await answer(guest, code), code).toMatchObject(invalidCode);
      }
      for (const who of [outsider, await verified(service.db, outsider)]) {
        expect(await answer(who, pending.code)).toMatchObject(invalidCode);
      }
      expect(await rowOf(service.db, pending)).toMatchObject({ status: 'pending', tries: 4 });
      expect((await answer(guest, pending.code)).status).toBe(200);
    },
  );

  it('is refused as by its id once the code is right', async () => {
    const { org, owner, admin } = cast;
    const invitation = await anInvitation(admin, org, { email: guest.email });
    const set = (sql: string, values: string[]) => service.db.query(sql, values);
    await set('UPDATE users SET disabled_at = 1 WHERE id = ?', [admin.id]);
    for (const [, answer] of ANSWERS) {
      expect(await answer(guest, invitation.code)).toMatchObject(invitationEnded);
      expect(await answer(guest, WRONG)).toMatchObject(invalidCode);
    }
    await set('UPDATE users SET disabled_at = NULL WHERE id = ?', [admin.id]);
    await set("INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'member', 1)", [
      org.id,
      guest.id,
      guest.email,
    ]);
    expect(await acceptByCode(guest, invitation.code)).toMatchObject(alreadyMember);
    expect(await roleOf(service.db, org, guest)).toBe('member');
    await owner.delete(`/api/orgs/${org.id}`);
    expect(await acceptByCode(guest, invitation.code)).toMatchObject(invalidCode);
  });

  it('counts a wrong code for every invitation of the e-mail, and a right one for its own', async () => {
    const [one, two] = [cast, await anOrg(service)];
    const first = await anInvitation(one.owner, one.org, { email: guest.email });
    const second = await anInvitation(two.owner, two.org, { email: guest.email });
    expect(await acceptByCode(guest, WRONG)).toMatchObject(invalidCode);
    expect(await declineByCode(guest, WRONG)).toMatchObject(invalidCode);
    expect(await acceptByCode(guest, 'no code')).toMatchObject(invalidCode);

    expect((await acceptByCode(guest, first.code)).status).toBe(200);

    expect(await rowOf(service.db, first)).toMatchObject({ tries: 3 });
    expect(await rowOf(service.db, second)).toMatchObject({ tries: 2 });
  });

  it.each([
    ['its code alone', (who: Account, { code }: { code: string }) => acceptByCode(who, code)],
    ['its id and code', (who: Account, one: { id: string; code: string }) => accept(who, one, one.code)],
  ])('takes the right code, by %s, at the 50th attempt and none after it', async (_, answer) => {
    const { org, owner } = cast;
    const set = (tries: number) =>
      service.db.query('UPDATE invitations SET tries = ? WHERE org_id = ?', [tries, org.id]);
    const invitation = await anInvitation(owner, org, { email: guest.email });
    await set(50);
    expect(await answer(guest, invitation)).toMatchObject(invalidCode);
    await set(49);
    expect(await acceptByCode(guest, WRONG)).toMatchObject(invalidCode);
    expect(await answer(guest, invitation)).toMatchObject(invalidCode);
    await set(49);
    expect(await accept(guest, invitation, WRONG)).toMatchObject(invalidCode);
    expect(await answer(guest, invitation)).toMatchObject(invalidCode);
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'pending', tries: 50 });

    await set(49);
    expect((await answer(guest, invitation)).status).toBe(200);
  });

  /** As one account makes them in that many organizations, later than all others. */
  async function inviteFromMany(email: string, invitations: number): Promise<void> {
    const inviterId = anUnknownId();
    const ids = times(invitations, () => newEntityId());
    await service.db.query(
      `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
         created_at, expires_at) VALUES ${ids.map(() => "(?, ?, ?, 'member', 'pending', 1, 1, 1, ?, 1, ?)").join()}`,
      ids.flatMap((id) => [id, id, email, inviterId, Date.now() + DAY_MS]),
    );
  }

  it.each([
    ['shown', 1],
    ['mailed', 0],
  ])(
    'is found beside 2,500 by one stranger if its code was %s; a wrong code counts for 2,000',
    async (_how, shown) => {
      const { org, owner } = cast;
      const { email } = guest;
      const invitation = await anInvitation(owner, org, { email });
      await service.db.query('UPDATE invitations SET code_shown = ? WHERE id = ?', [shown, invitation.id]);
      await inviteFromMany(email, 2500);

      expect(await acceptByCode(guest, WRONG)).toMatchObject(invalidCode);
      const tried = await service.db.query('SELECT id FROM invitations WHERE email = ? AND tries = 1', [
        email,
      ]);
      expect((await acceptByCode(guest, invitation.code)).status).toBe(200);

      expect(tried).toHaveLength(2000);
      await service.db.query('DELETE FROM invitations WHERE email = ?', [email]);
    },
  );

  it('is refused if a new code was made, or the e-mail moved, while the answer was on its way', async () => {
    const { org, owner } = cast;
    for (const change of [
      'UPDATE invitations SET code_number = code_number + 1 WHERE email = ?',
      "UPDATE users SET email = CONCAT('moved-', email) WHERE email = ?",
    ]) {
      const late = await anAccount(service, 'late');
      const invitation = await anInvitation(owner, org, { email: late.email });
      const held = await holdRows(service);
      await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
      const answer = acceptByCode(late, invitation.code);
      await held.untilOneWaits();
      await held.write(change, [late.email]);
      await held.commit();

      expect(await answer, change).toMatchObject(invalidCode);
      expect(await roleOf(service.db, org, late)).toBeUndefined();
    }
  });

  it.each(ANSWERS)('needs a login by password to %s, and a code', async (name, answer) => {
    const { org, owner } = cast;
    const path = `/api/me/invitations/${name}`;
    const invitation = await anInvitation(owner, org, { email: guest.email });
    const text = (body: string, type = 'application/json') => ({ headers: { 'content-type': type }, body });

    expect(await service.anyone.post(path, { code: invitation.code })).toMatchObject(unauthorized);
    expect(await answer(await byCode(service, guest), invitation.code)).toMatchObject(
      passwordSessionRequired,
    );
    for (const code of [0, null, {}, [invitation.code], true, undefined]) {
      expect(await guest.post(path, { code })).toMatchObject(invalidFields('code'));
    }
    expect(await guest.post(path)).toMatchObject(invalidFields('code'));
    expect((await guest.send('POST', path, text('[]'))).status).toBe(400);
    expect((await guest.send('POST', path, text('{}', 'text/plain'))).status).toBe(415);
    expect(await guest.with({}).post(path, { code: '1'.repeat(17 * 1024) })).toMatchObject(bodyTooLarge);
    expect((await guest.post(`${path}?dryRun=true`, { code: invitation.code })).status).toBe(400);
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'pending', tries: 0 });
  });

  it('is limited as codes are: 10 by one address for one e-mail', async () => {
    const { org, owner } = cast;
    const invitation = await anInvitation(owner, org, { email: guest.email });
    for (let tries = 0; tries < 5; tries += 1) {
      for (const [, answer] of ANSWERS) expect(await answer(guest, WRONG)).toMatchObject(invalidCode);
    }
    for (const [, answer] of ANSWERS) {
      expect(await answer(guest, invitation.code)).toMatchObject(rateLimited);
    }
    const other = await anAccount(service);
    const another = await anInvitation(owner, org, { email: other.email });
    expect((await acceptByCode(other, another.code)).status).toBe(200);
  });

  it('is answered once for each Idempotency-Key, by code or by id', async () => {
    const { org, owner } = cast;
    const other = await aVerifiedAccount(service);
    const [invitation, toOther] = [
      await anInvitation(owner, org, { email: guest.email }),
      await anInvitation(owner, org, { email: other.email }),
    ];
    const [by, byOther] = [guest, other].map((who) => who.with({ 'idempotency-key': randomUUID() }));

    for (const [who, path, body] of [
      [by!, '/api/me/invitations/accept', { code: invitation.code }],
      [byOther!, `/api/me/invitations/${toOther.id}/decline`, undefined],
    ] as const) {
      const first = await who.post(path, body);
      const again = await who.post(path, body);
      expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await who.post(path, { code: WRONG })).toMatchObject(idempotencyKeyReused);
    }
    expect(await roleOf(service.db, org, guest)).toBe('member');
    const kept = await service.db.query('SELECT * FROM idempotency_keys WHERE user_id = ?', [guest.id]);
    expect(JSON.stringify(kept)).not.toContain(invitation.code);
  });

  it('follows the e-mail, not the account', async () => {
    const email = anEmail('moved');
    const former = await anAccountOf(service, email);
    const owner = await anAccount(service);
    const invitation = await anInvitation(owner, await anOrgOf(owner), { email });
    await service.db.query('UPDATE users SET email = ? WHERE id = ?', [anEmail(), former.id]);
    const next = await anAccountOf(service, email);

    expect(await acceptByCode(former, invitation.code)).toMatchObject(invalidCode);
    expect((await acceptByCode(next, invitation.code)).status).toBe(200);
  });
});
