import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import type { Certificate } from './certificates.js';
import type { Service } from './service.js';

export interface ReceivedMail {
  messageId: string;
  to: string;
  /** without the default name of the product */
  subject: string;
  headers: string;
  text: string;
  /** as it is read in the mail; undefined: it holds none */
  code: string | undefined;
}

/** What it answers to the end of an email; an error with a `responseCode` refuses it. */
type Verdict = (mail: ReceivedMail) => Promise<void> | void;

interface Options {
  port?: number;
  /** STARTTLS, or with `implicit` TLS from the first byte */
  certificate?: Certificate;
  implicit?: boolean;
  login?: { user: string; password: string };
  refuseRecipient?: (address: string) => number | undefined;
}

const DEFAULT_PRODUCT = /^\[Accounts\] /;
const CODE = /\b[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}\b/;

export class MailServer {
  readonly mails: ReceivedMail[] = [];
  /** to come before the answer to each mail */
  verdict: Verdict = () => undefined;

  private constructor(
    private readonly server: SMTPServer,
    readonly port: number,
    readonly url: string,
  ) {}

  get env(): { SMTP_URL: string; MAIL_FROM: string } {
    return { SMTP_URL: this.url, MAIL_FROM: 'no-reply@accounts.example' };
  }

  static async start(options: Options = {}): Promise<MailServer> {
    const { certificate, implicit = false, login } = options;
    let mailServer: MailServer | undefined;
    const settings: SMTPServerOptions = {
      logger: false,
      authOptional: !login,
      secure: implicit,
      disabledCommands: [...(certificate ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])],
      ...(certificate && {
        cert: readFileSync(certificate.certificate),
        key: readFileSync(certificate.key),
      }),
      disableReverseLookup: true,
      closeTimeout: 100,
      onAuth: ({ username, password }, _session, done) => {
        if (username === login?.user && password === login?.password) done(null, { user: username });
        else done(refusal(535));
      },
      onRcptTo: ({ address }, _session, done) => {
        const code = options.refuseRecipient?.(address);
        done(code === undefined ? null : refusal(code));
      },
      onData: (stream, { envelope }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const mail = parseMail(Buffer.concat(chunks).toString(), String(envelope.rcptTo[0]?.address));
          void mailServer!.take(mail, done);
        });
      },
    };
    const server = new SMTPServer(settings);
    server.on('error', () => undefined);
    const port = await portOf(server.listen(options.port ?? 0, '127.0.0.1'));
    const who = login ? `${login.user}:${encodeURIComponent(login.password)}@` : '';
    const url = `${implicit ? 'smtps' : 'smtp'}://${who}${certificate ? 'localhost' : '127.0.0.1'}:${port}`;
    mailServer = new MailServer(server, port, url);
    return mailServer;
  }

  private async take(mail: ReceivedMail, answer: (refusal: Error | null) => void): Promise<void> {
    try {
      await this.verdict(mail);
      this.mails.push(mail);
      answer(null);
    } catch (error) {
      answer(error as Error);
    }
  }

  to(address: string): ReceivedMail[] {
    return this.mails.filter(({ to }) => to === address);
  }

  async next(address: string, count = 1): Promise<ReceivedMail> {
    await waitFor(`${count} mails to ${address}`, hangTimeoutMs(), () => this.to(address).length >= count);
    return this.to(address).at(-1)!;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
    });
  }
}

export function refusal(responseCode: number): Error {
  return Object.assign(new Error('not here, hunter2'), { responseCode });
}

export async function aSilentServer(): Promise<{ url: string; stop: () => void }> {
  const server = createServer();
  const port = await portOf(server.listen(0, '127.0.0.1'));
  return { url: `smtp://127.0.0.1:${port}`, stop: () => void server.close() };
}

async function portOf(server: Server): Promise<number> {
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function parseMail(raw: string, to: string): ReceivedMail {
  const end = raw.indexOf('\r\n\r\n');
  const headers = raw.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ');
  const header = (name: string): string =>
    new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1]?.trim() ?? '';
  const text = decoded(raw.slice(end + 4), header('Content-Transfer-Encoding'));
  const messageId = header('Message-ID');
  const subject = header('Subject').replace(DEFAULT_PRODUCT, '');
  return { messageId, to, subject, headers, text, code: CODE.exec(text)?.[0] };
}

/** RFC 2045 section 6 */
function decoded(text: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString();
  return encoding === 'quoted-printable' ? fromQuoted(text.replaceAll('=\r\n', '')) : text;
}

function fromQuoted(text: string): string {
  const bytes = text.replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** The text of a header, as programs show it (RFC 2047). */
export function shownHeader(header: string): string {
  const words = header.replaceAll(/(\?=)\s+(?==\?)/g, '$1');
  return words.replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, encoding: string, text: string) =>
    encoding.toUpperCase() === 'B'
      ? Buffer.from(text, 'base64').toString()
      : fromQuoted(text.replaceAll('_', ' ')),
  );
}

/** Waits until every email, or every one to this address, was sent, dropped or given up. */
export function untilMailsAreDecided({ db }: Pick<Service, 'db'>, recipient?: string): Promise<unknown> {
  const sql = `SELECT id FROM mails WHERE state = 'waiting'${recipient === undefined ? '' : ' AND recipient = ?'}`;
  return waitFor('every mail was decided on', hangTimeoutMs(), async () => {
    return (await db.query(sql, recipient === undefined ? [] : [recipient])).length === 0;
  });
}
