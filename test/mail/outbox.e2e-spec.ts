import { randomUUIDv7 } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountsJson } from '../support/accounts-command.js';
import { instancesInARace } from '../support/engine.js';
import { appCode, enrol, SECOND_FACTOR } from '../support/second-factor.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { aSilentServer, MailServer, refusal } from '../support/mail-server.js';
import { type Account, anAccount } from '../support/personas.js';
import { type Instance, startCluster } from '../support/service.js';
import type { Database } from '../support/database.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { mailOf, MailingInstallation, untilFailed, untilState } from './mailing-installation.js';

const MINUTE_MS = 60_000;

describe('the outbox', () => {
  let mailing: MailingInstallation;
  let mailServer: MailServer;
  let service: Instance;
  const refusedRecipients = new Map<string, number>();

  beforeAll(async () => {
    mailing = await MailingInstallation.create();
    mailServer = await mailing.startMailServer({
      refuseRecipient: (address) => refusedRecipients.get(address),
    });
    const env = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' };
    service = await mailing.startService(mailServer.url, env);
  });
  afterAll(() => mailing.remove());
  afterEach(() => {
    mailServer.verdict = () => undefined;
  });

  it('sends plain text from whom and to whom it should, with one Message-ID, and holds no code', async () => {
    const { email, id } = await anAccount(service);
    let dump = '';
    mailServer.verdict = async () => {
      for (const table of ['mails', 'email_codes', 'events', 'users'])
        dump += JSON.stringify(await mailing.db.query(`SELECT * FROM ${table}`));
    };
    await service.anyone.post('/api/auth/password/forgot', { email });
    const mail = await mailServer.next(email);
    await untilState(mailing.db, email, 'sent');
    const row = await mailOf(mailing.db, email);
    expect(mail.messageId).toBe(`<${String(row!['id'])}@accounts.example>`);
    expect(mail.headers).toMatch(/^From: Ada Countess <no-reply@accounts\.example>$/m);
    expect(mail.headers).toMatch(new RegExp(`^To: ${email}$`, 'm'));
    expect(mail.headers).toMatch(/^Auto-Submitted: auto-generated$/m);
    expect(mail.headers).toMatch(/^Content-Type: text\/plain/m);
    expect(mail.headers).toMatch(/^Subject: \[Accounts\] Your password reset code\r?$/m);
    expect(dump).toContain(id);
    const bare = mail.code!.replace('-', '');
    for (const text of [dump, service.logs.join('\n')]) {
      expect(text).not.toContain(mail.code);
      expect(text).not.toContain(bare);
    }
  });

  it.each([421, 451])('asks a server again that answers %i to the mail', async (code) => {
    let refusals = 0;
    mailServer.verdict = () => {
      if (refusals++ === 0) throw refusal(code);
    };
    const logged = service.logs.length;
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await mailServer.next(email);
    await untilState(mailing.db, email, 'sent');
    const logs = service.logs.slice(logged);
    expect(logs.filter((line) => line.includes('email not sent; it will be retried'))).toHaveLength(1);
    expect(logs.join('\n')).not.toMatch(/hunter2/);
  });

  it.each([550, 553])('does not send what the server refuses for good: %i', async (code) => {
    const { email } = await anAccount(service);
    refusedRecipients.set(email, code);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await untilState(mailing.db, email, 'failed');
    expect(await mailOf(mailing.db, email)).toMatchObject({
      attempts: 1,
      last_error: `EENVELOPE ${code} RCPT TO`,
    });
  });

  it('does not send a code after its time', async () => {
    mailServer.verdict = () => {
      throw refusal(451);
    };
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await untilFailed(mailing.db, email);
    await mailing.db.query('UPDATE mails SET expires_at = ?, next_attempt_at = 0 WHERE recipient = ?', [
      Date.now(),
      email,
    ]);
    await untilState(mailing.db, email, 'failed');
    expect(mailServer.to(email)).toEqual([]);
  });

  describe('notices of a second factor', () => {
    const subjects = (account: Account) => mailServer.to(account.email).map(({ subject }) => subject);
    const post = (by: Account, path: string, code: unknown) =>
      by.post<{ recoveryCodes: string[] }>(`${SECOND_FACTOR}${path}`, { password: by.password, code });

    it('tell of each change, and hold no code and no secret', async () => {
      const ada = await aVerifiedAccount(service, 'ada');
      const { secret, recoveryCodes } = await enrol(ada);
      await mailServer.next(ada.email, 1);
      const { body } = await post(ada, '/recovery-codes', recoveryCodes[0]);
      await mailServer.next(ada.email, 3);
      expect((await post(ada, '/remove', appCode(secret, 1))).status).toBe(200);
      await mailServer.next(ada.email, 4);
      expect(subjects(ada).toSorted()).toEqual([
        'A recovery code of your account was used',
        'Two-factor authentication was turned off',
        'Two-factor authentication was turned on',
        'Your account has new recovery codes',
      ]);
      for (const { text } of mailServer.to(ada.email)) {
        expect(text).toContain(ada.email);
        for (const confidential of [secret, ...recoveryCodes, ...body.recoveryCodes])
          expect(text).not.toContain(confidential);
      }
    });
  });

  it('sends each mail once, whichever instance was first', { timeout: 120_000 }, async () => {
    const shared = await MailServer.start();
    const cluster = await startCluster(instancesInARace, { env: shared.env });
    const recipients = Array.from({ length: 60 }, (_, number) => `user${number}@example.com`);
    for (const recipient of recipients) await insertMail(cluster.db, recipient);
    for (const recipient of recipients) await shared.next(recipient);
    await waitFor('all are noted as sent', hangTimeoutMs(), async () => {
      const [row] = await cluster.db.query("SELECT COUNT(*) AS n FROM mails WHERE state = 'waiting'");
      return Number(row!['n']) === 0;
    });
    expect(shared.mails.map(({ to }) => to).toSorted()).toEqual(recipients.toSorted());
    const [row] = await cluster.db.query('SELECT MAX(attempts) AS attempts FROM mails');
    expect(Number(row!['attempts'])).toBe(1);
    await cluster.stop();
    await shared.stop();
  });
});

describe('the outbox of services that start and stop', () => {
  let mailing: MailingInstallation;

  beforeEach(async () => {
    mailing = await MailingInstallation.create();
  });
  afterEach(() => mailing.remove());

  const dueNow = (recipient: string): Promise<unknown> =>
    mailing.db.query("UPDATE mails SET next_attempt_at = 0 WHERE recipient = ? AND state = 'waiting'", [
      recipient,
    ]);

  describe('loses nothing', () => {
    it('while the server is down: it retries, names what the system said, and sends when the server is back', async () => {
      const port = await freePort();
      const service = await mailing.startService(`smtp://127.0.0.1:${port}`, { METRICS_PORT: '0' });
      const { email } = await anAccount(service);
      await service.anyone.post('/api/auth/password/forgot', { email });
      await untilFailed(mailing.db, email, 2);

      expect(await mailOf(mailing.db, email)).toMatchObject({ last_error: 'ECONNREFUSED CONN' });
      // The row is written before the line.
      const logged = () => service.logs.find((text) => text.includes('email not sent'));
      const named = expect.stringContaining('"error":"ECONNREFUSED CONN"');
      await expect.poll(logged, { timeout: hangTimeoutMs() }).toEqual(named);
      const listed = await accountsJson<{ lastError: string }>(service.installation, ['mail', 'list']);
      expect(listed).toEqual([expect.objectContaining({ lastError: 'ECONNREFUSED CONN' })]);
      await waitFor('the metrics count it', hangTimeoutMs(), async () =>
        (await scrape(await metricsUrl(service.logs))).text.includes('accounts_mails{state="waiting"} 1'),
      );
      expect((await service.anyone.get('/health/ready')).body).toMatchObject({ status: 'ok', mail: 'ok' });
      await mailing.db.query('UPDATE mails SET id = ?', [oldId(11 * MINUTE_MS)]);
      expect(await service.anyone.get('/health/ready')).toMatchObject({
        status: 200,
        body: { status: 'degraded', mail: 'degraded' },
      });

      const mailServer = await mailing.startMailServer({ port });
      await dueNow(email);
      await mailServer.next(email);
      await untilState(mailing.db, email, 'sent');
      expect((await service.anyone.get('/health/ready')).body).toMatchObject({ status: 'ok', mail: 'ok' });
    });

    it('of a mail that the server took before the service died: a second one has the same Message-ID', async () => {
      const mailServer = await mailing.startMailServer();
      const first = await mailing.startService(mailServer.url);
      const { email } = await anAccount(first);
      let killed = false;
      mailServer.verdict = async () => {
        if (!killed) await first.kill();
        killed = true;
      };
      await first.anyone.post('/api/auth/password/forgot', { email });
      await mailServer.next(email);
      expect(await mailOf(mailing.db, email)).toMatchObject({ state: 'waiting', attempts: 1 });
      await mailing.startService(mailServer.url);
      await dueNow(email);
      await mailServer.next(email, 2);
      await untilState(mailing.db, email, 'sent');
      const [one, other] = mailServer.to(email);
      expect(other).toMatchObject({ messageId: one!.messageId, code: one!.code, text: one!.text });
    });

    it('of what was acknowledged, whenever the service is killed', { timeout: 120_000 }, async () => {
      const mailServer = await mailing.startMailServer();
      const env = { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_FORGOT: 'off' };
      const acknowledged: string[] = [];
      for (const kill of [0, 2, 4]) {
        const service = await mailing.startService(mailServer.url, env);
        const emails: string[] = [];
        while (emails.length < 10) emails.push((await anAccount(service)).email);
        const asked = emails.map(async (email) => {
          const answer = await service.anyone.post('/api/auth/password/forgot', { email });
          if (answer.status === 202) acknowledged.push(email);
        });
        await Promise.allSettled([...asked, mailServer.next(emails[kill]!).then(() => service.kill())]);
        // As if the leases of the dead process had ended.
        await mailing.db.query("UPDATE mails SET next_attempt_at = 0 WHERE state = 'waiting'");
      }
      await mailing.startService(mailServer.url, env);
      for (const email of acknowledged) await mailServer.next(email);
      expect(acknowledged.length).toBeGreaterThan(10);
      for (const email of acknowledged) {
        const mails = mailServer.to(email);
        expect(new Set(mails.map(({ messageId, code }) => `${messageId} ${code}`)).size).toBe(1);
      }
    });
  });

  it('keeps the service alive beside a server that says nothing, stops in time, and loses no mail', async () => {
    const silent = await aSilentServer();
    const service = await mailing.startService(silent.url);
    const { email, password } = await anAccount(service);
    for (let asked = 0; asked < 3; asked += 1)
      expect((await service.anyone.post('/api/auth/password/forgot', { email })).status).toBe(202);
    await waitFor('a mail is being sent', hangTimeoutMs(), async () =>
      Boolean((await mailing.db.query('SELECT 1 FROM mails WHERE attempts > 0')).length),
    );
    expect((await service.anyone.post('/api/auth/login', { email, password })).status).toBe(200);
    await service.stop();
    expect(await mailOf(mailing.db, email)).toMatchObject({ state: 'waiting', attempts: 1 });
    silent.stop();
  });
});

async function insertMail(db: Database, recipient: string): Promise<void> {
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
