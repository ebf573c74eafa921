import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { freePort } from '../../tooling/servers/free-port.js';
import { accountsJson } from '../support/accounts-command.js';
import { Authority } from '../support/certificates.js';
import { anAccount } from '../support/personas.js';
import { MailingInstallation } from './mailing-installation.js';
import { mailOf, untilFailed } from './mail-rows.js';

describe('the connection to the mail server', () => {
  let mailing: MailingInstallation;

  beforeEach(async () => {
    mailing = await MailingInstallation.create();
  });
  afterEach(() => mailing.remove());

  it.each(['STARTTLS', 'TLS from the first byte'])('sends by %s with a login', async (way) => {
    const authority = await Authority.create('mail');
    const certificate = await authority.issue('DNS:localhost');
    const login = { user: 'app', password: 'correct/horse battery' };
    const mailServer = await mailing.startMailServer({ certificate, login, implicit: way !== 'STARTTLS' });
    const service = await mailing.startService(mailServer.url, { SMTP_SSL_CA: authority.certificate });
    service.installation.secrets.note(login.password);
    const { email } = await anAccount(service);

    await service.anyone.post('/api/auth/password/forgot', { email });

    expect((await mailServer.next(email)).code).toBeDefined();
  });

  it('asks a server again that refuses the password', async () => {
    const authority = await Authority.create('mail');
    const certificate = await authority.issue('DNS:localhost');
    const mailServer = await mailing.startMailServer({
      certificate,
      login: { user: 'app', password: 'right password' },
    });
    const url = mailServer.url.replace('right%20password', 'wrong%20password');
    const service = await mailing.startService(url, { SMTP_SSL_CA: authority.certificate });
    service.installation.secrets.note('wrong password');
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });

    await untilFailed(mailing.db, email);

    expect(await mailOf(mailing.db, email)).toMatchObject({
      state: 'waiting',
      last_error: 'EAUTH 535 AUTH PLAIN',
    });
  });

  it('names what the system said of a server that is down', async () => {
    const service = await mailing.startService(`smtp://127.0.0.1:${await freePort()}`);
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });

    await untilFailed(mailing.db, email);

    expect(await mailOf(mailing.db, email)).toMatchObject({ last_error: 'ECONNREFUSED CONN' });
    // The row is written before the line.
    const logged = () => service.logs.find((text) => text.includes('mail not sent'));
    const named = expect.stringContaining('"error":"ECONNREFUSED CONN"');
    await expect.poll(logged, { timeout: hangTimeoutMs() }).toEqual(named);
    const listed = await accountsJson<{ lastError: string }>(service.installation, ['mail', 'list']);
    expect(listed).toEqual([expect.objectContaining({ lastError: 'ECONNREFUSED CONN' })]);
  });

  it('sends nothing to a server whose certificate is nobody’s, and no password without TLS', async () => {
    const authority = await Authority.create('mail');
    const certificate = await authority.issue('DNS:localhost');
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
