import { resolve } from 'node:path';
import { certificates, type Format, issuerUrl, oneOf, type Reader, variable } from './readers.js';
import type { Variables } from './variables.js';

export interface SmtpServer {
  host: string;
  port: number;
  secure: boolean;
  requireTls: boolean;
  login: { user: string; password: string } | undefined;
  ca: string | undefined;
}

/** for trials */
export interface MailDirectory {
  directory: string;
}

export interface MailSender {
  name: string;
  address: string;
}

const DEFAULT_PORTS = new Map([
  ['smtp:', 587],
  ['smtps:', 465],
]);
const ADDRESS = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[a-z\d.-]{1,189}$/i;
const NAMED = /^"?([^"<>\p{Cc}]{1,100}?)"? *<([^<>]+)>$/u;

const readCertificates = certificates('SMTP_SSL_CA', 'SMTP_URL', isMailSent);
const readServer = variable('SMTP_URL', '', {
  expected: 'smtp://user:password@host:port, smtps://… or file:./data/mails',
  parse: parseSmtpUrl,
});
const readDirectory = variable('SMTP_URL', '', {
  expected: 'file: with a directory, such as file:./data/mails',
  parse: parseFileUrl,
});
const senderOfFiles: Reader<string> = (variables) => (isWritten(variables) ? 'accounts@localhost' : '');
const readSender = variable('MAIL_FROM', senderOfFiles, {
  expected: 'address@domain or Name <address@domain>, with SMTP_URL',
  parse: parseMailSender,
});

export const smtp: Reader<SmtpServer | MailDirectory | undefined> = (variables) => {
  const ca = readCertificates(variables);
  if (!isMailSent(variables)) return undefined;
  if (isWritten(variables)) {
    const directory = readDirectory(variables);
    if (variables.get('NODE_ENV') === 'production')
      variables.expect('SMTP_URL', 'a mail server in production');
    return { directory };
  }
  const server = readServer(variables);
  return server && { ...server, ca, requireTls: server.login !== undefined || ca !== undefined };
};

export const mailFrom: Reader<MailSender | undefined> = (variables) =>
  isMailSent(variables) || variables.get('MAIL_FROM') !== '' ? readSender(variables) : undefined;

const PRODUCT_NAME: Format<string> = {
  expected: 'text of 1 to 60 characters without square brackets',
  parse: (text) => (/^[^\p{C}[\]]{1,60}$/u.test(text) && text.trim() === text ? text : undefined),
};

const fromIssuer: Reader<string> = (variables) => {
  const issuer = variables.get('JWT_ISSUER');
  return issuerUrl(issuer) ? new URL(issuer).hostname.replaceAll(/[[\]]/g, '').slice(0, 60) : 'Accounts';
};

export const mailProductName = variable('MAIL_PRODUCT_NAME', fromIssuer, PRODUCT_NAME);

const TIME_ZONE: Format<string> = {
  expected: 'the name of a time zone such as Europe/Berlin',
  parse: (text) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
    } catch {
      return undefined;
    }
  },
};

export const mailTimeZone = variable('MAIL_TIME_ZONE', 'UTC', TIME_ZONE);

const readVerification = variable('EMAIL_VERIFICATION', 'optional', oneOf('optional', 'required'));

export const emailVerification: Reader<'optional' | 'required'> = (variables) => {
  const verification = readVerification(variables);
  if (verification === 'required' && !isMailSent(variables))
    variables.problems.push('EMAIL_VERIFICATION: may be required only with SMTP_URL');
  return verification;
};

function isMailSent(variables: Variables): boolean {
  return variables.get('SMTP_URL') !== '';
}

function isWritten(variables: Variables): boolean {
  return variables.get('SMTP_URL').startsWith('file:');
}

function parseFileUrl(text: string): string | undefined {
  const [, directory] = /^file:(?:\/\/(?=\/))?((?!\/\/)[^?#\0]+)$/.exec(text) ?? [];
  return directory === undefined ? undefined : resolve(directory);
}

function parseSmtpUrl(text: string): Omit<SmtpServer, 'ca' | 'requireTls'> | undefined {
  const url = URL.parse(text);
  const port = url && DEFAULT_PORTS.get(url.protocol);
  if (!url || !port || url.hostname === '' || !/^\/?$/.test(url.pathname) || url.search || url.hash) {
    return undefined;
  }
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === undefined || password === undefined || (user === '') !== (password === '')) return undefined;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? port : Number(url.port),
    secure: url.protocol === 'smtps:',
    login: user === '' ? undefined : { user, password },
  };
}

function parseMailSender(text: string): MailSender | undefined {
  const [, name = '', address = text] = NAMED.exec(text) ?? [];
  return ADDRESS.test(address) ? { name: name.trim(), address } : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
