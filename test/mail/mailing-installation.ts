import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Database, Row } from '../support/database.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { type Instance, startOwnService } from '../support/service.js';

/** An installation with the services and mail servers that a test starts, and may stop or kill. */
export class MailingInstallation {
  private readonly running = new Set<Instance>();
  private readonly mailServers: MailServer[] = [];

  private constructor(readonly installation: Installation) {}

  static async create(): Promise<MailingInstallation> {
    return new MailingInstallation(await anInstallation());
  }

  get db(): Database {
    return this.installation.db;
  }

  async startMailServer(options?: Parameters<typeof MailServer.start>[0]): Promise<MailServer> {
    const mailServer = await MailServer.start(options);
    this.mailServers.push(mailServer);
    return mailServer;
  }

  async startService(smtpUrl: string, env: Record<string, string> = {}): Promise<Instance> {
    const started = await startOwnService({
      installation: this.installation,
      env: { SMTP_URL: smtpUrl, MAIL_FROM: 'Ada Countess <no-reply@accounts.example>', ...env },
    });
    const service: Instance = {
      ...started,
      stop: async () => {
        this.running.delete(service);
        await started.stop();
      },
      kill: async () => {
        this.running.delete(service);
        await started.kill();
      },
    };
    this.running.add(service);
    return service;
  }

  async stopAll(): Promise<void> {
    for (const service of this.running) await service.stop();
    for (const mailServer of this.mailServers.splice(0)) await mailServer.stop();
  }

  async remove(): Promise<void> {
    await this.stopAll();
    await this.installation.remove();
  }
}

export async function mailOf(db: Database, recipient: string): Promise<Row | undefined> {
  return (await db.query('SELECT * FROM mails WHERE recipient = ?', [recipient]))[0];
}

export function untilState(db: Database, recipient: string, state: string): Promise<unknown> {
  return waitFor(
    `the mail is ${state}`,
    hangTimeoutMs(),
    async () => (await mailOf(db, recipient))?.['state'] === state,
  );
}

export function untilFailed(db: Database, recipient: string, attempts = 1): Promise<unknown> {
  return waitFor(`${attempts} attempts have failed`, hangTimeoutMs(), async () => {
    const mail = await mailOf(db, recipient);
    return Number(mail?.['attempts']) >= attempts && mail?.['last_error'] !== null;
  });
}
