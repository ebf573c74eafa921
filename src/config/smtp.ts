import type { MailSender, SmtpServer } from './env.js';

const DEFAULT_PORTS = new Map([
  ['smtp:', 587],
  ['smtps:', 465],
]);
const ADDRESS = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[a-z\d.-]{1,189}$/i;
const NAMED = /^"?([^"<>\p{Cc}]{1,100}?)"? *<([^<>]+)>$/u;

/** Parses `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. */
export function parseSmtpUrl(text: string): Omit<SmtpServer, 'ca' | 'requireTls'> | undefined {
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

/** Parses `Accounts <no-reply@example.com>`, or the address alone. */
export function parseMailSender(text: string): MailSender | undefined {
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
