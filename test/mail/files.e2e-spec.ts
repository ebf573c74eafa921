import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { invite } from '../support/inviting.js';
import { anAccount, anEmail, anOrgOf } from '../support/personas.js';
import { MailingInstallation, mailOf, untilFailed, untilState } from './mailing-installation.js';

const CODE = /^Your code: (\S{5}-\S{5})$/m;

const mailing = await MailingInstallation.create();
const directory = join(mailing.installation.directory, 'trial/mails');
const service = await mailing.startService(`file:${directory}`, {
  MAIL_FROM: '',
});
afterAll(() => mailing.remove());

const filesTo = (email: string): string[] =>
  readdirSync(directory)
    .map((name) => join(directory, name))
    .filter((file) => readFileSync(file, 'utf8').includes(`\nTo: ${email}\n`));

async function aFileTo(email: string): Promise<{ file: string; text: string; code: string }> {
  await untilState(mailing.db, email, 'sent');
  const [file, ...others] = filesTo(email);
  expect(others).toEqual([]);
  const text = readFileSync(file!, 'utf8');
  return { file: file!, text, code: CODE.exec(text)![1]! };
}

it('verifies, resets and invites by the codes in files that only their owner reads, without a mail server', async () => {
  const [ada, guest] = [await anAccount(service, 'ada'), anEmail('guest')];
  expect((await ada.post('/api/me/email/verification')).status).toBe(202);
  const verification = await aFileTo(ada.email);
  expect((await ada.post('/api/me/email/verify', { code: verification.code })).status).toBe(200);
  expect(verification.text).toMatch(/^From: accounts@localhost$/m);
  expect(verification.text).toMatch(/^Subject: \[Accounts\] Your code to confirm this email address$/m);

  const grace = await anAccount(service, 'grace');
  await service.anyone.post('/api/auth/password/forgot', { email: grace.email });
  const reset = {
    email: grace.email,
    newPassword: 'a battery staple',
    code: (await aFileTo(grace.email)).code,
  };
  expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);

  const org = await anOrgOf(ada);
  expect((await invite(ada, org, { email: guest, showCode: false })).status).toBe(201);
  const invitation = await aFileTo(guest);
  const registration = { email: guest, password: 'a battery staple', invitationCode: invitation.code };
  expect((await service.anyone.post('/api/auth/register', registration)).status).toBe(201);
  const members = await ada.get<{ org: { members: unknown[] } }>(`/api/orgs/${org.id}`);
  expect(members.body.org.members).toHaveLength(2);

  // Notices follow the answers.
  const waiting = `SELECT id FROM mails WHERE state = 'waiting'`;
  await waitFor('all are sent', hangTimeoutMs(), async () => (await mailing.db.query(waiting)).length === 0);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(directory)) {
    expect(name).toMatch(/^[\da-f-]{36}\.eml$/);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  }
  const written = service.logs.filter((line) => line.includes('email written to a file'));
  expect(written.map((line) => basename((JSON.parse(line) as { file: string }).file)).toSorted()).toEqual(
    readdirSync(directory).toSorted(),
  );
  for (const secret of [verification.code, invitation.code, ada.email, guest])
    expect(written.join('\n')).not.toContain(secret);
});

it('keeps an email until the directory can be written, as until a mail server answers', async () => {
  rmSync(directory, { recursive: true, force: true });
  writeFileSync(directory, '');
  const ada = await anAccount(service, 'ada');
  expect((await ada.post('/api/me/email/verification')).status).toBe(202);
  await untilFailed(mailing.db, ada.email);
  expect(await mailOf(mailing.db, ada.email)).toMatchObject({ state: 'waiting', last_error: 'EEXIST' });
  rmSync(directory);
  expect((await aFileTo(ada.email)).code).toMatch(/-/);
});
