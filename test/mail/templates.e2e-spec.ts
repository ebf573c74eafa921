import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anInstallation, type Installation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { exitCode, spawnService } from '../support/service-process.js';

describe('templates of mails', () => {
  let installation: Installation;
  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  it('are sent as an operator wrote them', async () => {
    const mailServer = await MailServer.start();
    const templates = join(installation.directory, 'templates');
    await mkdir(templates);
    const text = 'Subject: Grüße\n\nCode für {{ email }}: {{code}}\n';
    await writeFile(join(templates, 'password-reset.txt'), text);
    const service = await startOwnService({
      installation,
      env: { ...mailServer.env, MAIL_TEMPLATES: templates },
    });
    const { email } = await anAccount(service);

    await service.anyone.post('/api/auth/password/forgot', { email });

    const mail = await mailServer.next(email);
    expect(mail.subject).toMatch(/^=\?UTF-8\?/i);
    expect(mail.text).toContain(`${email}: ${mail.code}`);
    await service.stop();
    await mailServer.stop();
  });

  it.each([
    ['password-reset.txt', 'no subject', /MAIL_TEMPLATES: password-reset\.txt: expected a first line/],
    ['password-reset.txt', 'Subject: Hello\n\nno code\n', /misses \{\{code\}\}/],
    ['password-reset.txt', 'Subject: {{code}}\n\n{{code}}\n', /the subject takes no placeholders/],
    ['password-changed.txt', 'Subject: Hello\n\n{{code}}\n', /there is no \{\{code\}\} here/],
    ['passwort-reset.txt', 'Subject: Hello\n\n{{code}}\n', /no mail has this name/],
    ['password-reset.txt', `Subject: Hello\n\n{{code}}${'x'.repeat(70_000)}`, /at most 65536 bytes/],
  ])('stop the start if they are wrong: %s, %j', async (file, text, message) => {
    await writeFile(join(installation.directory, file), text);
    const service = spawnService(installation.directory, {
      ...installation.env,
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'no-reply@accounts.example',
      MAIL_TEMPLATES: installation.directory,
    });

    expect(await exitCode(service)).toBe(1);
    expect(service.stderr).toEqual([expect.stringMatching(message)]);
  });
});
