import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import type { MailServer } from '../../support/mail-server.js';
import { AuthenticatorApp } from '../../support/second-factor.js';

/** Plays the user to whom a page talks: has the emails and the phone, and enters the codes. */
export class PageReader {
  private app: AuthenticatorApp | undefined;
  private readonly mailServer: MailServer;
  private readonly invited: string[];
  /** how many codes of own emails were entered */
  private entered = 0;

  /** @param invited who is asked for the code of an invitation, in that order */
  constructor(mailServer: MailServer, ...invited: string[]) {
    this.mailServer = mailServer;
    this.invited = invited;
  }

  readonly showQrCode = (uri: string, secret: string): Promise<void> => {
    if (new URL(uri).searchParams.get('secret') !== secret) throw new Error('the QR code has another secret');
    this.app = new AuthenticatorApp(secret);
    return Promise.resolve();
  };

  /** The code of the next mail that has one. */
  readonly ask = async (question: string): Promise<string> => {
    if (question.includes('app')) return this.app!.next();
    if (question.includes('invitation')) return (await this.mailServer.next(this.invited.shift()!)).code!;
    this.entered += 1;
    const own = () => this.mailServer.mails.filter(({ subject }) => !subject.includes('invited'));
    const codes = (): string[] => own().flatMap(({ code }) => code ?? []);
    await waitFor('the mail with the code', hangTimeoutMs(), () => codes().length >= this.entered);
    return codes()[this.entered - 1]!;
  };
}
