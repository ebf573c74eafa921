import { getSystemErrorMap } from 'node:util';
import type { Transporter } from 'nodemailer';
import type { Env } from '../config/env.js';
import { MailFiles } from './mail-files.js';
import type { Mail } from './mail.entity.js';
import {
  loadTemplates,
  type MailText,
  renderBody,
  shownTime,
  templateFor,
  type Templates,
} from './template.js';

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 20_000;
export const SEND_TIMEOUT_MS = 40_000;

export class SendingFailedError extends Error {
  /** @param isFinal whether the server will always refuse this email (RFC 5321 section 4.2.1) */
  constructor(
    /** codes only, because a server can answer anything, even a password */
    readonly words: string,
    readonly isFinal: boolean,
  ) {
    super(words);
  }
}

interface SmtpFailure {
  code?: string;
  /** more precise than `code`, which is ESOCKET or EDNS */
  errno?: number;
  responseCode?: number;
  command?: string;
}

export class SmtpSender {
  constructor(
    private readonly env: Env,
    private readonly transport: Transporter,
    private readonly templates: Templates,
  ) {}

  /** Connects and logs in, and sends nothing. @throws SendingFailedError */
  async verify(): Promise<void> {
    try {
      await this.transport.verify();
    } catch (error) {
      throw failureOf(error as SmtpFailure, false);
    }
  }

  async send(mail: Mail, text: MailText, stop: AbortSignal): Promise<void> {
    const { mailFrom, mailProductName: product, mailTimeZone } = this.env;
    const { address, name: senderName } = mailFrom!;
    const { id, recipient, createdAt } = mail;
    const template = templateFor(this.templates, text);
    const time = shownTime(createdAt, text.locale, mailTimeZone);
    const signal = AbortSignal.any([stop, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
    try {
      await this.transport.sendMail({
        // nodemailer parses addresses in strings, but not in objects.
        from: { name: senderName, address },
        to: { name: '', address: recipient },
        envelope: { from: address, to: [recipient] },
        messageId: `<${id}@${address.slice(address.lastIndexOf('@') + 1)}>`,
        date: new Date(createdAt),
        subject: `[${product}] ${template.subject}`,
        text: renderBody(template, { ...text, email: recipient, time, product }),
        headers: { 'Auto-Submitted': 'auto-generated' }, // RFC 3834 section 5
        signal,
      });
    } catch (error) {
      throw failureOf(error as SmtpFailure, signal.aborted && !stop.aborted);
    }
  }
}

/** Loads nodemailer if there is a mail server, and before the service listens: an upgrade replaces the package later. */
export async function createSender(env: Env, timeoutMs?: number): Promise<SmtpSender | undefined> {
  const { smtp } = env;
  if (!smtp) return undefined;
  const templates = loadTemplates(env.mailTemplates);
  const { createTransport } = await import('nodemailer');
  if ('directory' in smtp)
    return new SmtpSender(env, createTransport(new MailFiles(smtp.directory)), templates);
  const connectTimeoutMs = timeoutMs ?? CONNECT_TIMEOUT_MS;
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.secure,
    requireTLS: smtp.requireTls,
    ...(smtp.login && { auth: { user: smtp.login.user, pass: smtp.login.password } }),
    ...(smtp.ca !== undefined && { tls: { ca: smtp.ca } }),
    connectionTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: timeoutMs ?? SILENCE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return new SmtpSender(env, transport, templates);
}

/** Only a refusal of the recipient or of the text is final. An operator can fix a wrong password or sender. */
function failureOf({ code, errno, responseCode, command }: SmtpFailure, isLate: boolean): SendingFailedError {
  const words = isLate
    ? 'ETIMEDOUT'
    : [getSystemErrorMap().get(errno ?? 0)?.[0] ?? code ?? 'ERROR', responseCode, command]
        .filter((word) => word !== undefined)
        .join(' ');
  const isFinal = (responseCode ?? 0) >= 500 && (command === 'RCPT TO' || command === 'DATA');
  return new SendingFailedError(words.slice(0, 100), isFinal);
}
