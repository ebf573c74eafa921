import type { MailServer } from '../support/mail-server.js';
import { aCode, type Account, anAccount, anAccountOf, anEmail, aPassword } from '../support/personas.js';
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

  const derived = await aDerivedSession(service, moving!);
  const alone = await anAccount(withoutMail);
  const body = { email: anEmail(), password: alone.password };
  for (const id of ['askForVerification', 'verify', 'askForChange']) await examples.send(id, { by: derived });
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
  await examples.send('reset', { by: anyone, body });
  await examples.send('reset', { by: anyone, body });
}

async function verify(examples: ExampleAnswers, mailServer: MailServer, by: Account): Promise<void> {
  await examples.send('askForVerification', { by });
  const { code } = await mailServer.next(by.email);
  await examples.send('verify', { by, body: { code } });
  await examples.send('verify', { by, body: { code } });
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

async function aDerivedSession(service: Service, account: Account): Promise<Account> {
  const { body } = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', {
    code: await aCode(account),
  });
  return account.as(body.token);
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
