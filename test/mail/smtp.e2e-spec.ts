import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { anAccount } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { mailOf, untilFailed } from './mail-rows.js';

const MAIL_FROM = 'no-reply@accounts.example';

describe('the connection to the mail server', () => {
  let installation: Installation;
  let mailServer: MailServer | undefined;
  let services: Instance[];

  beforeEach(async () => {
    installation = await anInstallation();
    services = [];
  });
  afterEach(async () => {
    for (const service of services) await service.stop();
    await mailServer?.stop();
    mailServer = undefined;
    await installation.remove();
  });

  async function start(smtpUrl: string, env: Record<string, string> = {}): Promise<Instance> {
    const service = await startOwnService({
      installation,
      env: { SMTP_URL: smtpUrl, MAIL_FROM, ...env },
    });
    services.push(service);
    return service;
  }

  it.each(['STARTTLS', 'TLS from the first byte'])('sends by %s with a login', async (way) => {
    const authority = await Authority.create('mail');
    const certificate = await authority.issue('DNS:localhost');
    const login = { user: 'app', password: 'correct/horse battery' };
    mailServer = await MailServer.start({ certificate, login, implicit: way !== 'STARTTLS' });
    const service = await start(mailServer.url, { SMTP_SSL_CA: authority.certificate });
    service.installation.secrets.note(login.password);
    const { email } = await anAccount(service);

    await service.anyone.post('/api/auth/password/forgot', { email });

    expect((await mailServer.next(email)).code).toBeDefined();
  });

  it('asks a server again that refuses the password', async () => {
    const authority = await Authority.create('mail');
    const certificate = await authority.issue('DNS:localhost');
    mailServer = await MailServer.start({
      certificate,
      login: { user: 'app', password: 'right password' },
    });
    const url = mailServer.url.replace('right%20password', 'wrong%20password');
    const service = await start(url, { SMTP_SSL_CA: authority.certificate });
    service.installation.secrets.note('wrong password');
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });

    await untilFailed(installation.db, email);

    expect(await mailOf(installation.db, email)).toMatchObject({
      state: 'waiting',
      last_error: 'EAUTH 535 AUTH PLAIN',
    });
  });

  it('sends nothing to a server whose certificate is nobody’s, and no password without TLS', async () => {
    const authority = await Authority.create('mail');
    const certificate = await authority.issue('DNS:localhost');
    mailServer = await MailServer.start({ certificate });
    const service = await start(mailServer.url);
    const plain = await MailServer.start();
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await untilFailed(installation.db, email);
    await service.stop();
    services = [];
    await installation.db.query('UPDATE mails SET next_attempt_at = 0, last_error = NULL');

    await start(plain.url.replace('smtp://', 'smtp://app:secret-password@'));
    await untilFailed(installation.db, email, 2);

    expect([...mailServer.mails, ...plain.mails]).toEqual([]);
    await plain.stop();
  });
});
