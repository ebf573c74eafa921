import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUIDv7 } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.js';
import { instancesInARace } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aSilentServer, MailServer, refusal } from '../support/mail-server.js';
import { anAccount, anEmail } from '../support/personas.js';
import { type Instance, startCluster, startOwnService } from '../support/service.js';
import type { Database, Row } from '../support/database.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import { exitCode, spawnService } from '../support/service-process.js';
import { freePort } from '../../tooling/servers/free-port.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const MAIL_FROM = 'Ada Countess <no-reply@accounts.example>';
const MINUTE_MS = 60_000;

describe('the outbox', () => {
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

  const mailOf = async (recipient: string): Promise<Row | undefined> =>
    (await installation.db.query('SELECT * FROM mails WHERE recipient = ?', [recipient]))[0];
  const untilState = (recipient: string, state: string): Promise<unknown> =>
    waitFor(
      `the mail is ${state}`,
      hangTimeoutMs(),
      async () => (await mailOf(recipient))?.['state'] === state,
    );
  const untilFailed = (recipient: string, attempts = 1): Promise<unknown> =>
    waitFor(`${attempts} attempts have failed`, hangTimeoutMs(), async () => {
      const mail = await mailOf(recipient);
      return Number(mail?.['attempts']) >= attempts && mail?.['last_error'] !== null;
    });
  const dueNow = (recipient: string): Promise<unknown> =>
    installation.db.query("UPDATE mails SET next_attempt_at = 0 WHERE recipient = ? AND state = 'waiting'", [
      recipient,
    ]);

  describe('sends', () => {
    it('plain text from whom and to whom it should, with one Message-ID, and holds no code', async () => {
      mailServer = await MailServer.start();
      const service = await start(mailServer.url);
      const { email, id } = await anAccount(service);
      let dump = '';
      mailServer.verdict = async () => {
        for (const table of ['mails', 'mail_codes', 'events', 'users']) {
          dump += JSON.stringify(await installation.db.query(`SELECT * FROM ${table}`));
        }
      };
      await service.anyone.post('/api/auth/password/forgot', { email });

      const mail = await mailServer.next(email);
      await untilState(email, 'sent');

      const row = await mailOf(email);
      expect(mail.messageId).toBe(`<${String(row!['id'])}@accounts.example>`);
      expect(mail.headers).toMatch(/^From: Ada Countess <no-reply@accounts\.example>$/m);
      expect(mail.headers).toMatch(new RegExp(`^To: ${email}$`, 'm'));
      expect(mail.headers).toMatch(/^Auto-Submitted: auto-generated$/m);
      expect(mail.headers).toMatch(/^Content-Type: text\/plain/m);
      expect(mail.subject).toBe('Your code for a new password');
      expect(dump).toContain(id);
      const bare = mail.code!.replace('-', '');
      for (const text of [dump, service.logs.join('\n')]) {
        expect(text).not.toContain(mail.code);
        expect(text).not.toContain(bare);
      }
    });

    it.each(['STARTTLS', 'TLS from the first byte'])('by %s with a login', async (way) => {
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

    it('what an operator wrote', async () => {
      mailServer = await MailServer.start();
      const templates = join(installation.directory, 'templates');
      await mkdir(templates);
      const text = 'Subject: Grüße\n\nCode für {{ email }}: {{code}}\n';
      await writeFile(join(templates, 'password-reset.txt'), text);
      const service = await start(mailServer.url, { MAIL_TEMPLATES: templates });
      const { email } = await anAccount(service);

      await service.anyone.post('/api/auth/password/forgot', { email });

      const mail = await mailServer.next(email);
      expect(mail.subject).toMatch(/^=\?UTF-8\?/i);
      expect(mail.text).toContain(`${email}: ${mail.code}`);
    });

    it('each mail once, whichever instance was first', { timeout: 120_000 }, async () => {
      mailServer = await MailServer.start();
      const cluster = await startCluster(instancesInARace, { env: mailServer.env });
      const recipients = Array.from({ length: 60 }, (_, number) => `user${number}@example.com`);
      for (const recipient of recipients) await insertMail(cluster.db, recipient);

      for (const recipient of recipients) await mailServer.next(recipient);
      await waitFor('all are noted as sent', hangTimeoutMs(), async () => {
        const [row] = await cluster.db.query("SELECT COUNT(*) AS n FROM mails WHERE state = 'waiting'");
        return Number(row!['n']) === 0;
      });

      expect(mailServer.mails.map(({ to }) => to).toSorted()).toEqual(recipients.toSorted());
      const [row] = await cluster.db.query('SELECT MAX(attempts) AS attempts FROM mails');
      expect(Number(row!['attempts'])).toBe(1);
      await cluster.stop();
    });
  });

  describe('loses nothing', () => {
    it('while the server is down: it retries, says so, and sends when the server is back', async () => {
      const port = await freePort();
      const service = await start(`smtp://127.0.0.1:${port}`, { METRICS_PORT: '0' });
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });
      await untilFailed(email, 2);

      const mail = await mailOf(email);
      expect(String(mail!['last_error'])).toMatch(/^E[A-Z]+( \w+)*$/);
      await waitFor('the metrics count it', hangTimeoutMs(), async () =>
        (await scrape(await metricsUrl(service.logs))).text.includes('accounts_mails{state="waiting"} 1'),
      );
      expect((await service.anyone.get('/health/ready')).body).toMatchObject({ status: 'ok', mail: 'ok' });
      const old = oldId(11 * MINUTE_MS);
      await installation.db.query('UPDATE mails SET id = ?', [old]);
      expect(await service.anyone.get('/health/ready')).toMatchObject({
        status: 200,
        body: { status: 'degraded', mail: 'degraded' },
      });

      mailServer = await MailServer.start({ port });
      await dueNow(email);
      await mailServer.next(email);
      await untilState(email, 'sent');
      expect((await service.anyone.get('/health/ready')).body).toMatchObject({ status: 'ok', mail: 'ok' });
    });

    it.each([
      ['421 to the mail', 421],
      ['451 to the mail', 451],
    ])('to a server that answers %s: it asks again', async (_what, code) => {
      mailServer = await MailServer.start();
      let refusals = 0;
      mailServer.verdict = () => {
        if (refusals++ === 0) throw refusal(code);
      };
      const service = await start(mailServer.url);
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });

      await mailServer.next(email);
      await untilState(email, 'sent');

      expect(service.logs.filter((line) => line.includes('mail not sent, and will be retried'))).toHaveLength(
        1,
      );
      expect(service.logs.join('\n')).not.toMatch(/hunter2/);
    });

    it('with a wrong password for the server: it asks again', async () => {
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

      await untilFailed(email);

      expect(await mailOf(email)).toMatchObject({ state: 'waiting', last_error: 'EAUTH 535 AUTH PLAIN' });
    });

    it('of a mail that the server took before the service died: a second one has the same Message-ID', async () => {
      mailServer = await MailServer.start();
      const first = await start(mailServer.url);
      const { email } = await anAccount(first);
      let killed = false;
      mailServer.verdict = async () => {
        if (!killed) await first.kill();
        killed = true;
      };
      await first.anyone.post('/api/auth/password/forgot', { email });
      await mailServer.next(email);
      services = [];
      expect(await mailOf(email)).toMatchObject({ state: 'waiting', attempts: 1 });

      await start(mailServer.url);
      await dueNow(email);
      await mailServer.next(email, 2);
      await untilState(email, 'sent');

      const [one, other] = mailServer.to(email);
      expect(other).toMatchObject({ messageId: one!.messageId, code: one!.code, text: one!.text });
    });

    it('of what was acknowledged, whenever the service is killed', { timeout: 120_000 }, async () => {
      mailServer = await MailServer.start();
      const env = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_FORGOT: 'off' };
      const acknowledged: string[] = [];
      for (let kill = 0; kill < 5; kill += 1) {
        const service = await start(mailServer.url, env);
        const emails = await Promise.all(
          Array.from({ length: 6 }, async () => (await anAccount(service)).email),
        );
        const asked = emails.map(async (email) => {
          const answer = await service.anyone.post('/api/auth/password/forgot', { email });
          if (answer.status === 202) acknowledged.push(email);
        });
        const killed = mailServer.next(emails[kill]!).then(() => service.kill());
        await Promise.allSettled([...asked, killed]);
        services = [];
        // As if the leases of the dead process had ended.
        await installation.db.query("UPDATE mails SET next_attempt_at = 0 WHERE state = 'waiting'");
      }

      await start(mailServer.url, env);
      for (const email of acknowledged) await mailServer.next(email);

      expect(acknowledged.length).toBeGreaterThan(10);
      for (const email of acknowledged) {
        const mails = mailServer.to(email);
        expect(new Set(mails.map(({ messageId, code }) => `${messageId} ${code}`)).size).toBe(1);
      }
    });

    it('of those that are being sent when it stops, and stops in time', async () => {
      mailServer = await MailServer.start();
      const begun = Promise.withResolvers<void>();
      mailServer.verdict = () => {
        begun.resolve();
        return new Promise(() => undefined);
      };
      const service = await start(mailServer.url);
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });
      await begun.promise;

      await service.stop();
      services = [];

      expect(await mailOf(email)).toMatchObject({ state: 'waiting', attempts: 1 });
    });
  });

  describe('does not send', () => {
    it.each([550, 553])('what the server refuses for good: %i', async (code) => {
      mailServer = await MailServer.start({ refuseRecipient: () => code });
      const service = await start(mailServer.url);
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });

      await untilState(email, 'failed');

      expect(await mailOf(email)).toMatchObject({ attempts: 1, last_error: `EENVELOPE ${code} RCPT TO` });
    });

    it('a code after its time', async () => {
      mailServer = await MailServer.start();
      mailServer.verdict = () => {
        throw refusal(451);
      };
      const service = await start(mailServer.url);
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });
      await untilFailed(email);

      await installation.db.query('UPDATE mails SET expires_at = ?, next_attempt_at = 0', [Date.now()]);
      await untilState(email, 'failed');

      expect(mailServer.mails).toEqual([]);
    });

    it('over TLS to a server whose certificate is nobody’s, nor a password without TLS', async () => {
      const authority = await Authority.create('mail');
      const certificate = await authority.issue('DNS:localhost');
      mailServer = await MailServer.start({ certificate });
      const service = await start(mailServer.url);
      const plain = await MailServer.start();
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });
      await untilFailed(email);
      await service.stop();
      services = [];
      await installation.db.query('UPDATE mails SET next_attempt_at = 0, last_error = NULL');

      await start(plain.url.replace('smtp://', 'smtp://app:secret-password@'));
      await untilFailed(email, 2);

      expect([...mailServer.mails, ...plain.mails]).toEqual([]);
      await plain.stop();
    });
  });

  it('keeps the service alive beside a server that says nothing', async () => {
    const silent = await aSilentServer();
    const service = await start(silent.url);
    const { email, password } = await anAccount(service);
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await service.anyone.post('/api/auth/password/forgot', { email })).status).toBe(202);
    }

    await waitFor('a mail is being sent', hangTimeoutMs(), async () =>
      Boolean((await installation.db.query('SELECT 1 FROM mails WHERE attempts > 0')).length),
    );
    expect((await service.anyone.post('/api/auth/login', { email, password })).status).toBe(200);
    await service.stop();
    services = [];
    silent.stop();
  });
});

describe('templates that are wrong', () => {
  let installation: Installation;
  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  it.each([
    ['password-reset.txt', 'no subject', /MAIL_TEMPLATES: password-reset\.txt: expected a first line/],
    ['password-reset.txt', 'Subject: Hello\n\nno code\n', /misses \{\{code\}\}/],
    ['password-reset.txt', 'Subject: {{code}}\n\n{{code}}\n', /the subject takes no placeholders/],
    ['password-changed.txt', 'Subject: Hello\n\n{{code}}\n', /there is no \{\{code\}\} here/],
    ['passwort-reset.txt', 'Subject: Hello\n\n{{code}}\n', /no mail has this name/],
    ['password-reset.txt', `Subject: Hello\n\n{{code}}${'x'.repeat(70_000)}`, /at most 65536 bytes/],
  ])('stop the start: %s, %j', async (file, text, message) => {
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

async function insertMail(db: Database, recipient = anEmail()): Promise<void> {
  await db.query(
    `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at)
      VALUES (?, 'password_changed', ?, 'waiting', ?, ?)`,
    [randomUUIDv7(), recipient, Date.now(), Date.now()],
  );
}

function oldId(ageMs: number): string {
  const hex = (Date.now() - ageMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`;
}
