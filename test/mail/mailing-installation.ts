import type { Database } from '../support/database.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Instance, startOwnService } from '../support/service.js';

/** An installation whose services send mail, started and stopped by the test. */
export class MailingInstallation {
  private services: Instance[] = [];

  private constructor(private readonly installation: Installation) {}

  static async create(): Promise<MailingInstallation> {
    return new MailingInstallation(await anInstallation());
  }

  get db(): Database {
    return this.installation.db;
  }

  async start(smtpUrl: string, env: Record<string, string> = {}): Promise<Instance> {
    const service = await startOwnService({
      installation: this.installation,
      env: { SMTP_URL: smtpUrl, MAIL_FROM: 'no-reply@accounts.example', ...env },
    });
    this.services.push(service);
    return service;
  }

  /** The test has stopped or killed them. */
  forgetServices(): void {
    this.services = [];
  }

  async remove(): Promise<void> {
    for (const service of this.services) await service.stop();
    await this.installation.remove();
  }
}
