import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { emailTaken, invalidCode, invalidCredentials, invalidFields } from '../support/expected.js';
import {
  age,
  anInvitation,
  DAY_MS,
  registerWith,
  resend,
  revoke,
  roleOf,
  rowOf,
} from '../support/inviting.js';
import { anAccount, anEmail, anOrg, aPassword, type Cast } from '../support/personas.js';
import { startServiceWithoutLimits } from '../support/service.js';

const service = await startServiceWithoutLimits();
afterAll(() => service.stop());

describe('registering with the code of an invitation', () => {
  let cast: Cast;
  beforeEach(async () => {
    cast = await anOrg(service);
  });

  const usersOf = async (email: string): Promise<number> =>
    (await service.db.query('SELECT id FROM users WHERE email = ?', [email])).length;

  it('makes the account and joins, in one step', async () => {
    const { org, admin } = cast;
    const email = anEmail('guest');
    const invitation = await anInvitation(admin, org, { email, role: 'admin' });

    const { status, body } = await registerWith(service, email.toUpperCase(), invitation.code);

    expect(status).toBe(201);
    expect(Object.keys(body).toSorted()).toEqual(['token', 'user']);
    const guest = admin.as(body.token);
    expect((await guest.get<{ orgs: object[] }>('/api/me')).body.orgs).toEqual([
      { id: org.id, name: org.name },
    ]);
    expect(await roleOf(service.db, org, body.user)).toBe('admin');
    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'accepted', pending: null });
    const events = await service.db.query('SELECT type FROM events WHERE user_id = ? ORDER BY type', [
      body.user.id,
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      'account.registered',
      'invitation.accepted',
      'member.added',
      'session.started',
    ]);
  });

  it('is refused, and makes no account, for another e-mail or a wrong, old, revoked or expired code', async () => {
    const { org, owner } = cast;
    const emails = [
      anEmail('other'),
      anEmail('wrong'),
      anEmail('old'),
      anEmail('revoked'),
      anEmail('expired'),
    ];
    const [, wrong, old, revoked, expired] = emails;
    const invitations = await Promise.all(
      [wrong!, old!, revoked!, expired!].map((email) => anInvitation(owner, org, { email })),
    );
    const [first, second, third, fourth] = invitations;
    await resend(owner, org, second!);
    await revoke(owner, org, third!);
    await age(service.db, fourth!, 7 * DAY_MS);

    expect(await registerWith(service, emails[0]!, first!.code)).toMatchObject(invalidCode);
    expect(await registerWith(service, wrong!, '00000-00000')).toMatchObject(invalidCode);
    expect(await registerWith(service, wrong!, 'what?')).toMatchObject(invalidCode);
    expect(await registerWith(service, old!, second!.code)).toMatchObject(invalidCode);
    expect(await registerWith(service, revoked!, third!.code)).toMatchObject(invalidCode);
    expect(await registerWith(service, expired!, fourth!.code)).toMatchObject(invalidCode);

    for (const email of emails) expect(await usersOf(email)).toBe(0);
    expect(await service.db.query('SELECT user_id FROM members WHERE org_id = ?', [org.id])).toHaveLength(3);
  });

  it('is refused when the inviter may not invite any more', async () => {
    const { org, admin } = cast;
    const email = anEmail();
    const { code } = await anInvitation(admin, org, { email });
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [admin.id]);

    expect(await registerWith(service, email, code)).toMatchObject(invalidCode);
    expect(await usersOf(email)).toBe(0);
  });

  it('says that the e-mail is taken only to whoever has the code', async () => {
    const { org, owner } = cast;
    const taken = await anAccount(service);
    const invitation = await anInvitation(owner, org, { email: taken.email });

    expect(await registerWith(service, taken.email, '00000-00000')).toMatchObject(invalidCode);
    expect(await registerWith(service, taken.email, invitation.code)).toMatchObject(emailTaken);

    expect(await rowOf(service.db, invitation)).toMatchObject({ status: 'pending', pending: 1 });
    expect(await roleOf(service.db, org, taken)).toBeUndefined();
    expect(
      await service.anyone.post('/api/auth/login', { email: taken.email, password: aPassword() }),
    ).toMatchObject(invalidCredentials);
  });

  it('finds the right one of many for the e-mail, and counts a wrong code for each', async () => {
    const email = anEmail('wanted');
    const others = [await anOrg(service), await anOrg(service)];
    const other = await anInvitation(others[0]!.owner, others[0]!.org, { email });
    const right = await anInvitation(cast.owner, cast.org, { email });
    await anInvitation(others[1]!.owner, others[1]!.org, { email });
    for (let tries = 0; tries < 2; tries += 1) await registerWith(service, email, '00000-00000');

    const { status, body } = await registerWith(service, email, right.code);

    expect(status).toBe(201);
    expect(await roleOf(service.db, cast.org, body.user)).toBe('member');
    expect(await rowOf(service.db, other)).toMatchObject({ status: 'pending', tries: 2 });
  });

  it('takes at most 50 codes for an invitation', async () => {
    const email = anEmail();
    const invitation = await anInvitation(cast.owner, cast.org, { email });
    for (let tries = 0; tries < 50; tries += 1) {
      expect(await registerWith(service, email, '00000-00000')).toMatchObject(invalidCode);
    }

    expect(await registerWith(service, email, invitation.code)).toMatchObject(invalidCode);
    expect(await usersOf(email)).toBe(0);
  });

  it.each([0, {}, ['x'], true])('takes no code such as %j', async (invitationCode) => {
    const answer = await service.anyone.post('/api/auth/register', {
      email: anEmail(),
      password: aPassword(),
      invitationCode,
    });
    expect(answer).toMatchObject(invalidFields('invitationCode'));
  });
});
