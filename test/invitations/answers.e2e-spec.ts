import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { times } from '../support/at-once.js';
import {
  alreadyMember,
  bodyTooLarge,
  emailNotVerified,
  emailTaken,
  idempotencyKeyReused,
  invalidInvitationCode,
  invalidCredentials,
  invalidFields,
  invitationEnded,
  invitationNotFound,
  rateLimited,
} from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import type { Invitation, ReceivedInvitation } from '../support/inviting.js';
import {
  accept,
  acceptByCode,
  age,
  anInvitation,
  aVerifiedAccount,
  DAY_MS,
  decline,
  declineByCode,
  received,
  registerWith,
  resend,
  revoke,
  roleOf,
  rowOf,
  verified,
} from '../support/inviting.js';
import { disable, enable, orgsOf } from '../support/org-members.js';
import type { Account, Cast } from '../support/personas.js';
import {
  anAccount,
  anAccountOf,
  anEmail,
  anOrg,
  anOrgOf,
  anUnknownId,
  aPassword,
  join,
} from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { insertRow, insertRows } from '../support/rows.js';
import { startService } from '../support/service.js';

const WRONG = '00000-00000';
const MAX_TRIES = 10_000_000;
const ANSWERS = [
  ['accept', acceptByCode],
  ['decline', declineByCode],
] as const;

const service = await startService();
const { db } = service;

let cast: Cast;
beforeEach(async () => {
  cast = await anOrg(service);
});

type Coded = Invitation & { code: string };

const isVerified = async (who: Account): Promise<boolean> =>
  (await who.get<{ emailVerified: boolean }>('/api/me/account')).body.emailVerified;

/** Of one email in organizations of their own; `old` has another code by now. */
async function endedInvitations(email: string): Promise<Record<'revoked' | 'expired' | 'old', Coded>> {
  const [one, two, three] = [await anOrg(service), await anOrg(service), await anOrg(service)];
  const revoked = await anInvitation(one.owner, one.org, { email });
  await revoke(one.owner, one.org, revoked);
  const expired = await anInvitation(two.owner, two.org, { email });
  await age(db, expired, 7 * DAY_MS);
  const old = await anInvitation(three.owner, three.org, { email });
  await resend(three.owner, three.org, old);
  return { revoked, expired, old };
}

describe('an invitation that is answered with its code alone', () => {
  let guest: Account;
  let invitation: Coded;
  beforeEach(async () => {
    guest = await anAccount(service, 'guest');
    invitation = await anInvitation(cast.owner, cast.org, guest);
  });

  const setTries = (tries: number) =>
    db.query('UPDATE invitations SET tries = ? WHERE org_id = ?', [tries, cast.org.id]);

  it('lets an account join whose e-mail is not verified, and proves none where the code was shown', async () => {
    const { org, owner } = cast;
    await revoke(owner, org, invitation);
    const asAdmin = await anInvitation(owner, org, { email: guest.email, role: 'admin' });
    const typed = ` ${asAdmin.code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}`;
    const known = await knownEvents(db);
    expect(await acceptByCode(guest, typed)).toMatchObject({ status: 200, body: { org, role: 'admin' } });
    expect(await roleOf(db, org, guest)).toBe('admin');
    expect(await rowOf(db, asAdmin)).toMatchObject({ status: 'accepted', pending: null });
    expect(await isVerified(guest)).toBe(false);
    const by = { actor_type: 'user', actor_id: guest.id, org_id: org.id, user_id: guest.id, reason: null };
    expect(await eventsSince(db, known)).toEqual([
      { ...by, type: 'invitation.accepted', data: { invitationId: asAdmin.id, role: 'admin' } },
      { ...by, type: 'member.added', data: { role: 'admin', via: 'invitation' } },
    ]);
    expect(await acceptByCode(guest, asAdmin.code)).toMatchObject(invalidInvitationCode);
  });

  it('verifies the e-mail of an account that enters a mailed code', async () => {
    await db.query('UPDATE invitations SET code_shown = 0 WHERE id = ?', [invitation.id]);
    expect((await acceptByCode(guest, invitation.code)).status).toBe(200);
    expect(await isVerified(guest)).toBe(true);
  });

  it('is declined, and can be made again', async () => {
    const { org, owner } = cast;
    const known = await knownEvents(db);
    expect(await declineByCode(guest, invitation.code)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await rowOf(db, invitation)).toMatchObject({ status: 'declined', pending: null });
    expect(await roleOf(db, org, guest)).toBeUndefined();
    expect(await isVerified(guest)).toBe(false);
    expect(await eventsSince(db, known)).toMatchObject([
      { type: 'invitation.declined', actor_id: guest.id, org_id: org.id },
    ]);
    expect(await declineByCode(guest, invitation.code)).toMatchObject(invalidInvitationCode);
    expect((await acceptByCode(guest, (await anInvitation(owner, org, guest)).code)).status).toBe(200);
  });

  it.each(ANSWERS)(
    'is not found to %s by a wrong, old, revoked or expired code, or for another e-mail',
    async (_, answer) => {
      const { revoked, expired, old } = await endedInvitations(guest.email);
      await verified(db, guest);
      for (const code of [WRONG, revoked.code, expired.code, old.code, '', 'what?'])
        expect(await answer(guest, code), code).toMatchObject(invalidInvitationCode);
      expect(await answer(cast.outsider, invitation.code)).toMatchObject(invalidInvitationCode);
      await verified(db, cast.outsider);
      expect(await answer(cast.outsider, invitation.code)).toMatchObject(invalidInvitationCode);
      expect(await rowOf(db, invitation)).toMatchObject({ status: 'pending', tries: 4 });
      expect((await answer(guest, invitation.code)).status).toBe(200);
    },
  );

  it('is refused as by its id once the code is right', async () => {
    const { org, owner } = cast;
    await disable(db, owner);
    for (const [, answer] of ANSWERS) {
      expect(await answer(guest, invitation.code)).toMatchObject(invitationEnded);
      expect(await answer(guest, WRONG)).toMatchObject(invalidInvitationCode);
    }
    await enable(db, owner);
    await insertRow(db, 'members', { org_id: org.id, user_id: guest.id, email: guest.email });
    expect(await acceptByCode(guest, invitation.code)).toMatchObject(alreadyMember);
    expect(await roleOf(db, org, guest)).toBe('member');
    await owner.delete(`/api/orgs/${org.id}`);
    expect(await acceptByCode(guest, invitation.code)).toMatchObject(invalidInvitationCode);
  });

  it('counts a wrong code for every invitation of the e-mail, and a right one for its own', async () => {
    const other = await anOrg(service);
    const second = await anInvitation(other.owner, other.org, guest);
    expect(await acceptByCode(guest, WRONG)).toMatchObject(invalidInvitationCode);
    expect(await declineByCode(guest, WRONG)).toMatchObject(invalidInvitationCode);
    expect(await acceptByCode(guest, 'no code')).toMatchObject(invalidInvitationCode);
    expect((await acceptByCode(guest, invitation.code)).status).toBe(200);
    expect(await rowOf(db, invitation)).toMatchObject({ tries: 3 });
    expect(await rowOf(db, second)).toMatchObject({ tries: 2 });
  });

  it.each([
    ['its code alone', (who: Account, { code }: Coded) => acceptByCode(who, code)],
    ['its id and code', (who: Account, one: Coded) => accept(who, one, one.code)],
  ])('takes the right code, by %s, at the 10,000,000th attempt and none after it', async (_, answer) => {
    await setTries(MAX_TRIES);
    expect(await answer(guest, invitation)).toMatchObject(invalidInvitationCode);
    for (const fail of [() => acceptByCode(guest, WRONG), () => accept(guest, invitation, WRONG)]) {
      await setTries(MAX_TRIES - 1);
      expect(await fail()).toMatchObject(invalidInvitationCode);
      expect(await answer(guest, invitation)).toMatchObject(invalidInvitationCode);
    }
    expect(await rowOf(db, invitation)).toMatchObject({ status: 'pending', tries: MAX_TRIES });
    await setTries(MAX_TRIES - 1);
    expect((await answer(guest, invitation)).status).toBe(200);
  });

  it.each([
    ['shown', 1],
    ['mailed', 0],
  ])(
    'is found beside 2,500 by one stranger if its code was %s; a wrong code counts for 2,000',
    async (_how, shown) => {
      const { email } = guest;
      await db.query('UPDATE invitations SET code_shown = ? WHERE id = ?', [shown, invitation.id]);
      // As one account makes them in that many organizations, later than all others.
      const many = times(2500, () => ({ id: newEntityId() }));
      await insertRows(db, 'invitations', many, { email, code_shown: 1, invited_by: anUnknownId() });
      expect(await acceptByCode(guest, WRONG)).toMatchObject(invalidInvitationCode);
      const tried = await db.query('SELECT id FROM invitations WHERE email = ? AND tries = 1', [email]);
      expect((await acceptByCode(guest, invitation.code)).status).toBe(200);
      expect(tried).toHaveLength(2000);
      await db.query('DELETE FROM invitations WHERE email = ?', [email]);
    },
  );

  it.each([
    ['a new code was made', 'UPDATE invitations SET code_number = code_number + 1 WHERE email = ?'],
    ['the e-mail moved', "UPDATE users SET email = CONCAT('moved-', email) WHERE email = ?"],
  ])('is refused if %s while the answer was on its way', async (_what, change) => {
    const held = await holdRows(service);
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [cast.org.id]);
    const answer = acceptByCode(guest, invitation.code);
    await held.untilOneWaits();
    await held.write(change, [guest.email]);
    await held.commit();
    expect(await answer).toMatchObject(invalidInvitationCode);
    expect(await roleOf(db, cast.org, guest)).toBeUndefined();
  });

  it.each(ANSWERS)('needs a code to %s', async (name) => {
    const path = `/api/me/invitations/${name}`;
    const { code } = invitation;
    const send = (body: string, type: string) =>
      guest.send('POST', path, { headers: { 'content-type': type }, body });
    for (const odd of [0, null, {}, [code], true, undefined])
      expect(await guest.post(path, { code: odd })).toMatchObject(invalidFields('code'));
    expect(await guest.post(path)).toMatchObject(invalidFields('code'));
    expect((await send('[]', 'application/json')).status).toBe(400);
    expect((await send('{}', 'text/plain')).status).toBe(415);
    expect(await guest.with({}).post(path, { code: '1'.repeat(17 * 1024) })).toMatchObject(bodyTooLarge);
    expect(await rowOf(db, invitation)).toMatchObject({ status: 'pending', tries: 0 });
  });

  it('is limited as codes are: 10 by one address for one e-mail', async () => {
    for (let tries = 0; tries < 5; tries += 1) {
      for (const [, answer] of ANSWERS)
        expect(await answer(guest, WRONG)).toMatchObject(invalidInvitationCode);
    }
    for (const [, answer] of ANSWERS) expect(await answer(guest, invitation.code)).toMatchObject(rateLimited);
    const other = await anAccount(service);
    const another = await anInvitation(cast.owner, cast.org, other);
    expect((await acceptByCode(other, another.code)).status).toBe(200);
  });

  it('is answered once for each Idempotency-Key, by code or by id', async () => {
    const { org, owner } = cast;
    const other = await aVerifiedAccount(service);
    for (const [account, path, body] of [
      [guest, '/api/me/invitations/accept', { code: invitation.code }],
      [other, `/api/me/invitations/${(await anInvitation(owner, org, other)).id}/decline`, undefined],
    ] as const) {
      const who = account.with({ 'idempotency-key': randomUUID() });
      const first = await who.post(path, body);
      const again = await who.post(path, body);
      expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await who.post(path, { code: WRONG })).toMatchObject(idempotencyKeyReused);
    }
    expect(await roleOf(db, org, guest)).toBe('member');
    const kept = await db.query('SELECT * FROM idempotency_keys WHERE user_id = ?', [guest.id]);
    expect(JSON.stringify(kept)).not.toContain(invitation.code);
  });

  it('follows the e-mail, not the account', async () => {
    await db.query('UPDATE users SET email = ? WHERE id = ?', [anEmail(), guest.id]);
    const next = await anAccountOf(service, guest.email);
    expect(await acceptByCode(guest, invitation.code)).toMatchObject(invalidInvitationCode);
    expect((await acceptByCode(next, invitation.code)).status).toBe(200);
  });
});

describe('registering with the code of an invitation', () => {
  const usersOf = async (email: string): Promise<number> =>
    (await db.query('SELECT id FROM users WHERE email = ?', [email])).length;

  it('makes the account and joins, in one step', async () => {
    const { org, admin } = cast;
    const email = anEmail('guest');
    const invitation = await anInvitation(admin, org, { email, role: 'admin' });
    const { status, body } = await registerWith(service, email.toUpperCase(), invitation.code);
    expect(status).toBe(201);
    expect(Object.keys(body).toSorted()).toEqual(['token', 'user']);
    expect(await orgsOf(admin.as(body.token))).toEqual([org]);
    expect(await roleOf(db, org, body.user)).toBe('admin');
    expect(await rowOf(db, invitation)).toMatchObject({ status: 'accepted', pending: null });
    const events = await db.query('SELECT type FROM events WHERE user_id = ? ORDER BY type', [body.user.id]);
    expect(events.map(({ type }) => type)).toEqual([
      'account.registered',
      'invitation.accepted',
      'member.added',
      'session.started',
    ]);
  });

  it('is refused, and makes no account, for another e-mail or a wrong, old, revoked or expired code', async () => {
    const [email, other] = [anEmail('guest'), anEmail('other')];
    const { code } = await anInvitation(cast.owner, cast.org, { email });
    const { revoked, expired, old } = await endedInvitations(email);
    expect(await registerWith(service, other, code)).toMatchObject(invalidInvitationCode);
    for (const wrong of [WRONG, 'what?', old.code, revoked.code, expired.code])
      expect(await registerWith(service, email, wrong)).toMatchObject(invalidInvitationCode);
    expect([await usersOf(email), await usersOf(other)]).toEqual([0, 0]);
    expect(await db.query('SELECT user_id FROM members WHERE org_id = ?', [cast.org.id])).toHaveLength(3);
  });

  it('is refused when the inviter may not invite any more', async () => {
    const email = anEmail();
    const { code } = await anInvitation(cast.admin, cast.org, { email });
    await disable(db, cast.admin);
    expect(await registerWith(service, email, code)).toMatchObject(invalidInvitationCode);
    expect(await usersOf(email)).toBe(0);
  });

  it('says that the e-mail is taken only to whoever has the code', async () => {
    const taken = await anAccount(service);
    const invitation = await anInvitation(cast.owner, cast.org, taken);
    expect(await registerWith(service, taken.email, WRONG)).toMatchObject(invalidInvitationCode);
    expect(await registerWith(service, taken.email, invitation.code)).toMatchObject(emailTaken);
    expect(await rowOf(db, invitation)).toMatchObject({ status: 'pending', pending: 1 });
    expect(await roleOf(db, cast.org, taken)).toBeUndefined();
    const login = { email: taken.email, password: aPassword() };
    expect(await service.anyone.post('/api/auth/login', login)).toMatchObject(invalidCredentials);
  });

  it('finds the right one of many for the e-mail, and counts a wrong code for each', async () => {
    const email = anEmail('wanted');
    const [before, after] = [await anOrg(service), await anOrg(service)];
    const other = await anInvitation(before.owner, before.org, { email });
    const right = await anInvitation(cast.owner, cast.org, { email });
    await anInvitation(after.owner, after.org, { email });
    for (let tries = 0; tries < 2; tries += 1) await registerWith(service, email, WRONG);
    const { status, body } = await registerWith(service, email, right.code);
    expect(status).toBe(201);
    expect(await roleOf(db, cast.org, body.user)).toBe('member');
    expect(await rowOf(db, other)).toMatchObject({ status: 'pending', tries: 2 });
  });

  it('is refused if a new code was made while the registration was on its way', async () => {
    const email = anEmail();
    const { id, code } = await anInvitation(cast.owner, cast.org, { email });
    const held = await holdRows(service);
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [cast.org.id]);
    const answer = registerWith(service, email, code);
    await held.untilOneWaits();
    await held.write('UPDATE invitations SET code_number = code_number + 1 WHERE id = ?', [id]);
    await held.commit();
    expect(await answer).toMatchObject(invalidInvitationCode);
    expect(await usersOf(email)).toBe(0);
  });

  it.each([0, {}, [['x']], true])('takes no code such as %j', async (invitationCode) => {
    const body = { email: anEmail(), password: aPassword(), invitationCode };
    expect(await service.anyone.post('/api/auth/register', body)).toMatchObject(
      invalidFields('invitationCode'),
    );
  });
});

describe('the time of an answer does not tell', () => {
  const PAIRS = 40;
  let org: Cast['org'];
  let owner: Account;
  beforeEach(async () => {
    owner = await anAccount(service);
    org = await anOrgOf(owner);
  });

  /** Alternately, and ten times as often if the best times differ: other load on the machine only ever adds time. */
  async function ratioOf(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
    const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const pairs of [PAIRS, 10 * PAIRS]) {
      for (let turn = 0; turn < 2 * pairs; turn += 1) {
        const begin = performance.now();
        await (turn % 2 ? other() : one());
        best[turn % 2] = Math.min(best[turn % 2]!, performance.now() - begin);
      }
      if (isAlike(best[0]! / best[1]!)) break;
    }
    return best[0]! / best[1]!;
  }

  /** One write more would show as twice the time. */
  const isAlike = (ratio: number): boolean => ratio > 0.5 && ratio < 2;

  it.each<[string, () => Promise<[string, string]>, (email: string) => Promise<unknown>]>([
    [
      'whether an e-mail that is invited has an account',
      async () => [(await aVerifiedAccount(service)).email, anEmail()],
      async (email) => revoke(owner, org, await anInvitation(owner, org, { email })),
    ],
    [
      'whether an e-mail that registers with a wrong code is invited',
      async () => [(await anInvitation(owner, org, { email: anEmail() })).email, anEmail()],
      async (email) => expect(await registerWith(service, email, WRONG)).toMatchObject(invalidInvitationCode),
    ],
  ])('%s', async (_what, emails, attempt) => {
    const [known, unknown] = await emails();
    const ratio = await ratioOf(
      () => attempt(known),
      () => attempt(unknown),
    );
    expect(ratio).toSatisfy(isAlike);
  });
});

describe('an invitation', () => {
  /** whose email is verified, and invited */
  let guest: Account;
  let invitation: Coded;
  beforeEach(async () => {
    guest = await aVerifiedAccount(service, 'guest');
    invitation = await anInvitation(cast.admin, cast.org, guest);
  });

  /** One whose email is invited, and not proven. */
  async function aSquatter(): Promise<{ squatter: Account; pending: Coded }> {
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
    expect(await roleOf(db, cast.org, guest)).toBe('member');
    expect(await rowOf(db, { id })).toMatchObject({ status: 'accepted', pending: null });
    expect(await accept(guest, { id })).toMatchObject(alreadyMember);
    expect(await decline(guest, { id })).toMatchObject(invitationEnded);
  });

  it('is declined once, and can be made again', async () => {
    expect(await decline(guest, invitation)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await decline(guest, invitation)).toMatchObject(invitationEnded);
    expect(await accept(guest, invitation)).toMatchObject(invitationEnded);
    expect(await roleOf(db, cast.org, guest)).toBeUndefined();
    await anInvitation(cast.owner, cast.org, guest);
    expect(await received(guest)).toHaveLength(1);
  });

  it('is for nobody else', async () => {
    const { outsider } = cast;
    await verified(db, outsider);
    for (const answer of [accept, decline]) {
      expect(await answer(outsider, invitation)).toMatchObject(invitationNotFound);
      expect(await answer(outsider, invitation, invitation.code)).toMatchObject(invitationNotFound);
      for (const id of [anUnknownId(), 'x', '%00'])
        expect(await answer(outsider, { id })).toMatchObject(invitationNotFound);
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
    expect(await roleOf(db, cast.org, squatter)).toBeUndefined();
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
    expect(await roleOf(db, cast.org, guest)).toBe('member');
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
