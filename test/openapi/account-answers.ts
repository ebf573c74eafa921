import {
  aChallenge,
  appCode,
  challengeFor,
  forgetSteps,
  protect,
  unprotect,
} from '../support/second-factor.js';
import { aVerifiedAccount } from '../support/inviting.js';
import type { MailServer } from '../support/mail-server.js';
import { type Account, anAccount, anAccountOf, anEmail, aPassword, byCode } from '../support/personas.js';
import type { Service } from '../support/service.js';
import type { ExampleAnswers } from './example-answers.js';

/** More than any limit admits by default. */
const MOST_ADMITTED = 20;

/** Gets what goes by mail answered, and what does not where there is no mail server. */
export async function collectMailAnswers(
  examples: ExampleAnswers,
  service: Service,
  mailServer: MailServer,
  withoutMail: Service,
): Promise<void> {
  const [reset, verified, moving] = await Promise.all(
    ['reset', 'verified', 'moving'].map((name) => anAccount(service, name)),
  );
  await resetPassword(examples, service, mailServer, reset!);
  await verify(examples, mailServer, verified!);
  await move(examples, service, mailServer, moving!);

  const derived = await byCode(service, moving!);
  const alone = await anAccount(withoutMail);
  const body = { email: anEmail(), password: alone.password };
  await examples.sendAll(['askForVerification', 'verify', 'askForChange'], { by: derived });
  await examples.send('forgot', { by: withoutMail.anyone, body });
  await examples.send('askForVerification', { by: alone });
  await examples.send('askForChange', { by: alone, body });
  await exceedLimits(examples, service);
}

async function resetPassword(
  examples: ExampleAnswers,
  { anyone }: Service,
  mailServer: MailServer,
  { email }: Account,
): Promise<void> {
  await examples.send('forgot', { by: anyone, body: { email } });
  const { code } = await mailServer.next(email);
  const body = { email, code, newPassword: aPassword() };
  await examples.sendAll(['reset', 'reset'], { by: anyone, body });
}

async function verify(examples: ExampleAnswers, mailServer: MailServer, by: Account): Promise<void> {
  await examples.send('askForVerification', { by });
  const { code } = await mailServer.next(by.email);
  await examples.sendAll(['verify', 'verify'], { by, body: { code } });
  await examples.send('askForVerification', { by });
}

async function move(
  examples: ExampleAnswers,
  service: Service,
  mailServer: MailServer,
  by: Account,
): Promise<void> {
  const email = anEmail('new');
  await examples.send('askForChange', { by, body: { email, password: by.password } });
  await examples.send('askForChange', { by, body: { email, password: 'not the password' } });
  const { code } = await mailServer.next(email);
  await anAccountOf(service, email);
  await examples.send('verify', { by, body: { code } });
}

async function exceedLimits(examples: ExampleAnswers, service: Service): Promise<void> {
  const by = await anAccount(service);
  const change = { email: anEmail(), password: 'not the password' };
  const code = { code: '0000000000' };
  const bodies = {
    forgot: { email: by.email },
    askForVerification: undefined,
    reset: { email: by.email, ...code, newPassword: aPassword() },
    verify: code,
    askForChange: change,
  };
  for (const [id, body] of Object.entries(bodies)) {
    let requests = 0;
    while (!examples.answers.has(`${id} rate_limited`)) {
      requests += 1;
      if (requests > MOST_ADMITTED) throw new Error(`${id} was not refused after ${MOST_ADMITTED} requests`);
      await examples.send(id, { by, body });
    }
  }
}

const CHANGES = ['renewRecoveryCodes', 'removeSecondFactor'];
const WRITES = ['beginSecondFactor', 'confirmSecondFactor', ...CHANGES];

/** Spreads the requests over several accounts, since each counts as a login of its own. */
export async function collectSecondFactorAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const by = await aVerifiedAccount(service, 'protected');
  const { password } = by;
  await examples.sendAll(WRITES, { by: await byCode(service, by) });
  const { secret } = await examples.send('beginSecondFactor', { by, body: { password } });
  const code = appCode(secret);
  await examples.send('confirmSecondFactor', { by, body: { code } });
  await examples.send('getSecondFactor', { by });
  await examples.send('beginSecondFactor', { by, body: { password } });
  await examples.send('confirmSecondFactor', { by, body: { code } });
  await forgetSteps(service, by);
  await examples.send('renewRecoveryCodes', { by, body: { password, code } });
  await forgetSteps(service, by);
  await examples.send('removeSecondFactor', { by, body: { password, code } });

  const unverified = await anAccount(service, 'unverified');
  await examples.send('confirmSecondFactor', { by: unverified, body: { code } });

  const other = await aVerifiedAccount(service, 'unprotected');
  await examples.sendAll(['beginSecondFactor', ...CHANGES], {
    by: other,
    body: { password: 'not the password', code },
  });
  await examples.send('confirmSecondFactor', { by: other, body: { code } });
  await examples.sendAll(CHANGES, { by: other, body: { password: other.password, code } });

  const busy = await anAccount(service, 'busy');
  await examples.sendAll(WRITES, { by: busy, body: {} });
  const wrong = { password: 'not the password', code: '000000' };
  for (let count = 0; count < 4; count += 1)
    for (const id of WRITES) await examples.send(id, { by: busy, body: wrong });
}

const STEP = 'logInWithSecondFactor';

/** @param adaId of the account whose email the examples have; it has no second factor afterwards */
export async function collectSecondStepAnswers(
  examples: ExampleAnswers,
  service: Service,
  adaId: string,
): Promise<void> {
  const { anyone } = service;
  const other = await anAccount(service);
  const { app } = await protect(service, other);
  const { email, password } = other;
  await examples.send('login', { by: anyone, body: { email, password } });
  await examples.send(STEP, { by: anyone });
  await collectRefusedCodes(examples, other, app.wrong());
  const challenge = await aChallenge(service, other);
  const body = { challenge, code: app.wrong() };
  for (let attempt = 0; attempt <= 10; attempt += 1) await examples.send(STEP, { by: anyone, body });
  await unprotect(service, other);

  const ada = await protect(service, { id: adaId });
  // Her logins are counted.
  const asked = await challengeFor(service, adaId);
  await examples.send(STEP, { by: anyone, body: { challenge: asked, code: ada.recoveryCodes[0] } });
  await unprotect(service, { id: adaId });
}

/** Where a code is sent beside the right password. */
async function collectRefusedCodes(examples: ExampleAnswers, by: Account, code: string): Promise<void> {
  const { password } = by;
  await examples.send('deleteAccount', { by, body: { password, code } });
  await examples.send('askForChange', { by, body: { email: 'ada.lovelace@example.com', password, code } });
  await examples.send('changePassword', {
    by,
    body: { currentPassword: password, newPassword: aPassword(), code },
  });
}
