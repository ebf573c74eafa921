import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.js';
import { anAccount } from '../support/personas.js';
import { exitCode, spawnService, spawnWithout, untilListening } from '../support/service-process.js';
import { mailOf, MailingInstallation, untilFailed } from './mailing-installation.js';

const LOGIN = { user: 'app', password: 'correct/horse battery' };
const WRONG_TEMPLATES: [file: string, text: string, message: RegExp][] = [
  ['password-reset.txt', 'no subject', /^MAIL_TEMPLATES: password-reset\.txt: expected a first line/],
  ['email-verification.txt', 'Subject: Hello\n\nno code\n', /misses \{\{code\}\}/],
  ['email-change.txt', 'Subject: {{code}}\n\n{{code}}\n', /the subject takes no placeholders/],
  ['password-changed.txt', 'Subject: Hello\n\n{{code}}\n', /there is no \{\{code\}\} here/],
  ['passwort-reset.txt', 'Subject: Hello\n\n{{code}}\n', /no email has this name/],
  ['invitation.txt', `Subject: Hello\n\n{{code}}${'x'.repeat(70_000)}`, /at most 65536 bytes/],
  ['de/password-reset.txt', 'Subject: Hallo\n\nkein Code\n', /misses \{\{code\}\}/],
  ['de/password_reset.txt', 'Subject: Hallo\n\n{{code}}\n', /no email has this name/],
  ['fr-CA/invitation.txt', 'Subject: Salut\n\n{{code}} {{nom}}\n', /there is no \{\{nom\}\} here/],
  ['pt_BR', '', /expected a language tag such as de or pt-BR/],
];

const mailing = await MailingInstallation.create();
const { directory } = mailing.installation;
const authority = await Authority.create('mail');
const certificate = await authority.issue('DNS:localhost');
const env = { SMTP_SSL_CA: authority.certificate };
afterEach(() => mailing.stopAll());
afterAll(() => mailing.remove());

describe('mails', () => {
  it.each(['STARTTLS', 'TLS from the first byte'])(
    'are sent by %s with a login, as an operator wrote them',
    async (way) => {
      const templates = join(directory, way);
      await mkdir(templates);
      const written = 'Subject: Grüße\n\nCode für {{ email }}: {{code}}\n';
      await writeFile(join(templates, 'password-reset.txt'), written);
      const implicit = way !== 'STARTTLS';
      const mailServer = await mailing.startMailServer({ certificate, login: LOGIN, implicit });
      const service = await mailing.startService(mailServer.url, { ...env, MAIL_TEMPLATES: templates });
      service.installation.secrets.note(LOGIN.password);
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });
      const { subject, text, code } = await mailServer.next(email);
      expect(subject).toMatch(/^=\?UTF-8\?/i);
      expect(code).toBeDefined();
      expect(text).toContain(`${email}: ${code}`);
    },
  );

  it('stay waiting for a server that refuses the password', async () => {
    const mailServer = await mailing.startMailServer({ certificate, login: LOGIN });
    const service = await mailing.startService(mailServer.url.replace('correct', 'wrong'), env);
    service.installation.secrets.note('wrong/horse battery');
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await untilFailed(mailing.db, email);
    expect(await mailOf(mailing.db, email)).toMatchObject({
      state: 'waiting',
      last_error: 'EAUTH 535 AUTH PLAIN',
    });
  });

  it('are not sent to a server whose certificate is nobody’s, nor is a password without TLS', async () => {
    const mailServer = await mailing.startMailServer({ certificate });
    const service = await mailing.startService(mailServer.url);
    const plain = await mailing.startMailServer();
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await untilFailed(mailing.db, email);
    await service.stop();
    await mailing.db.query('UPDATE mails SET next_attempt_at = 0, last_error = NULL');
    await mailing.startService(plain.url.replace('smtp://', 'smtp://app:secret-password@'));
    await untilFailed(mailing.db, email, 2);
    expect([...mailServer.mails, ...plain.mails]).toEqual([]);
  });
});

it('wrong templates stop the start, which names the fault of each', async () => {
  const templates = join(directory, 'wrong');
  await mkdir(templates);
  for (const [file, text] of WRONG_TEMPLATES) {
    const isFolder = !file.endsWith('.txt');
    await mkdir(join(templates, isFolder ? file : dirname(file)), { recursive: true });
    if (!isFolder) await writeFile(join(templates, file), text);
  }
  // Nobody reads folders that are named like no language.
  for (const folder of ['..data', 'images', 'lost+found']) await mkdir(join(templates, folder));
  await writeFile(join(templates, 'images', 'note.txt'), 'anything');
  const service = spawnService(directory, {
    ...mailing.installation.env,
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'no-reply@accounts.example',
    MAIL_TEMPLATES: templates,
  });
  expect(await exitCode(service)).toBe(1);
  expect(service.stderr).toHaveLength(WRONG_TEMPLATES.length);
  for (const [file, , message] of WRONG_TEMPLATES)
    expect(service.stderr.find((line) => line.startsWith(`MAIL_TEMPLATES: ${file}: `))).toMatch(message);
});

it('a service without a mail server does not load nodemailer', async () => {
  const withoutMail = spawnWithout(['nodemailer'], mailing.installation, {});
  await untilListening(withoutMail);
  withoutMail.child.kill('SIGTERM');
  expect(await exitCode(withoutMail)).toBe(0);
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'no-reply@accounts.example' };
  expect(await exitCode(spawnWithout(['nodemailer'], mailing.installation, mail))).toBe(1);
});
