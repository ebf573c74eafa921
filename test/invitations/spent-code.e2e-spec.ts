import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import { invalidInvitationCode, rateLimited } from '../support/expected.js';
import type { Invitation } from '../support/inviting.js';
import { accept, invite, listed, received, registerWith, resend, roleOf } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { anAccountOf, anEmail, anOrg, aPassword, type Cast, type Session } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const TRIES = 50;
/** of registration, for one email from one address in an hour */
const TRIES_OF_AN_ADDRESS = 5;

const mailServer = await MailServer.start();
const service = await startOwnService({ env: { ...mailServer.env, TRUST_PROXY: '127.0.0.1' } });
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

/** A stranger needs ten addresses for that, and the email. */
describe('a mailed invitation whose code strangers have tried to guess 50 times', () => {
  let cast: Cast;
  let email: string;
  let invitation: Invitation;
  let code: string;

  async function spendTheCode(): Promise<void> {
    cast = await anOrg(service);
    email = anEmail('guest');
    invitation = (await invite(cast.admin, cast.org, { email, showCode: false })).body.invitation;
    code = (await mailServer.next(email)).code!;
    const body = { email, password: aPassword(), invitationCode: '00000-00000' };
    for (const address of times(TRIES / TRIES_OF_AN_ADDRESS, (number) => `203.0.113.${number}`)) {
      const stranger = service.anyone.with({ 'x-forwarded-for': address });
      for (const expected of [...times(TRIES_OF_AN_ADDRESS, () => invalidInvitationCode), rateLimited]) {
        expect(await stranger.post('/api/auth/register', body)).toMatchObject(expected);
      }
    }
  }

  it('is accepted by whoever registers without the code and verifies the e-mail', async () => {
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

  it('is pending for the inviter, who sends a code that works', async () => {
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
