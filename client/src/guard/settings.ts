import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { baseOf, isHttpUrl } from '../base-url.ts';
import { messageOf } from '../service/reasons.ts';

/** That of the package. */
export const VERSION = '0.4.0-dev';

export type Listen = { host: string; port: number } | { path: string };

export interface Settings {
  listen: Listen[];
  socketMode: number;
  issuer: string;
  url: string;
  audience: string[];
  service: string;
  /** Reads the secret for each request to Accounts. */
  secret: () => string;
  secretFile: string | undefined;
  maxStaleness: number;
  remember: number;
}

interface Flag {
  name: string;
  /** A flag without a value is on or off. */
  value?: string;
  fallback?: string;
  meaning: string;
}

/** The help and the table of the documentation have the flags in this order. */
export const FLAGS: readonly Flag[] = [
  {
    name: 'listen',
    value: 'ADDRESS',
    fallback: '127.0.0.1:9190',
    meaning: 'IP:PORT, [::1]:PORT, localhost:PORT or unix:/PATH. May be repeated; the variable has commas',
  },
  { name: 'allow-remote', meaning: 'permits an address that is not loopback. The traffic is not encrypted' },
  { name: 'socket-mode', value: 'MODE', fallback: '0660', meaning: 'mode of the socket file' },
  { name: 'issuer', value: 'TEXT', meaning: 'JWT_ISSUER of Accounts. Required' },
  { name: 'url', value: 'URL', meaning: 'where Accounts is, if that is not the issuer' },
  {
    name: 'audience',
    value: 'NAMES',
    meaning: 'name of the service. Add ,JWT_AUDIENCE if full access tokens count too. Required',
  },
  {
    name: 'service',
    value: 'NAME',
    meaning: 'name of the service whose credentials the guard uses. Required',
  },
  {
    name: 'secret-file',
    value: 'FILE',
    meaning:
      'file with its secret, read for each request to Accounts. Required, or GUARD_SECRET with the secret',
  },
  {
    name: 'max-staleness',
    value: 'SECONDS',
    fallback: '30',
    meaning: 'how long the event feed may be silent, at least 4',
  },
  {
    name: 'remember',
    value: 'COUNT',
    fallback: '100000',
    meaning: 'how many tokens, sessions and memberships the guard caches',
  },
  { name: 'help', meaning: 'prints this text' },
  { name: 'version', meaning: 'prints the version' },
];

/** Has one line for each wrong setting, and no line has a secret. */
export class WrongUsage extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

export const variableOf = (name: string): string => `GUARD_${name.toUpperCase().replaceAll('-', '_')}`;

type Given = Map<string, string[]>;

/** @throws WrongUsage */
export function readSettings(argv: readonly string[], env: NodeJS.ProcessEnv): Settings {
  const wrong: string[] = [];
  const given = givenBy(argv, env, wrong);
  const text = (name: string): string | undefined => given.get(name)?.[0];
  const check = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      wrong.push(`--${name}: ${messageOf(error)}`);
      return undefined;
    }
  };
  const required = (name: string): string => text(name) ?? refuse('is required');
  const isRemoteAllowed = given.has('allow-remote');
  const settings = {
    listen: check('listen', () => given.get('listen')!.map((one) => listenOf(one, isRemoteAllowed))),
    socketMode: check('socket-mode', () => modeOf(required('socket-mode'))),
    issuer: check('issuer', () => required('issuer')),
    url: text('issuer') && check('url', () => urlOf(text('url'), required('issuer'))),
    audience: check('audience', () => listOf(required('audience'))),
    service: check('service', () => serviceOf(required('service'))),
    secret: check('secret-file', () => secretOf(text('secret-file'), env['GUARD_SECRET'])),
    secretFile: text('secret-file'),
    maxStaleness: check('max-staleness', () => countOf(required('max-staleness'), 4)),
    remember: check('remember', () => countOf(required('remember'), 1)),
  };
  if (wrong.length > 0) throw new WrongUsage(wrong);
  return settings as Settings;
}

/** A flag comes before its variable, and an empty variable counts as absent. */
function givenBy(argv: readonly string[], env: NodeJS.ProcessEnv, wrong: string[]): Given {
  const given: Given = new Map();
  const options = Object.fromEntries(
    FLAGS.map(({ name, value }) => [name, { type: value ? ('string' as const) : ('boolean' as const) }]),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== 'option') {
      if (token.kind === 'positional') wrong.push('an argument is neither a flag nor the value of a flag');
      continue;
    }
    const flag = FLAGS.find(({ name }) => name === token.name);
    // The name of an unknown flag could be a secret, so that only letters and hyphens are shown.
    const name = /^[a-z-]{1,30}$/i.exec(token.name)?.[0] ?? '…';
    const hint = /secret/i.test(name)
      ? ': put the secret into a file, and name the file with --secret-file'
      : '';
    if (!flag) wrong.push(`there is no flag --${name}${hint}`);
    else if (flag.value ? !token.value : token.value !== undefined)
      wrong.push(`--${name}: ${flag.value ? `needs a value: ${flag.value}` : 'takes no value'}`);
    else if (name !== 'listen' && given.has(name)) wrong.push(`--${name}: is given twice`);
    else given.set(name, [...(given.get(name) ?? []), token.value ?? '']);
  }
  for (const { name, value, fallback } of FLAGS) {
    const text = env[variableOf(name)] || fallback;
    if (given.has(name) || text === undefined) continue;
    if (!value && !['true', 'false'].includes(text)) wrong.push(`${variableOf(name)}: must be true or false`);
    else if (value || text === 'true') given.set(name, name === 'listen' ? listOf(text) : [text]);
  }
  return given;
}

function refuse(message: string): never {
  throw new Error(message);
}

function listenOf(text: string, isRemoteAllowed: boolean): Listen {
  if (text.startsWith('unix:')) return { path: socketPathOf(text.slice('unix:'.length)) };
  const [, v6, other = '', digits = ''] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? (other === 'localhost' ? '127.0.0.1' : other);
  if (isIP(host) !== (v6 === undefined ? 4 : 6))
    refuse(`${JSON.stringify(text)} is not IP:PORT, [IP]:PORT, localhost:PORT or unix:/PATH`);
  const port = Number(digits);
  if (port < 1 || port > 65_535) refuse(`the port of ${text} is not between 1 and 65535`);
  if (!isRemoteAllowed && !host.startsWith('127.') && host !== '::1')
    refuse(`${text} is not loopback, and the traffic is not encrypted: --allow-remote permits it`);
  return { host, port };
}

/** The address of a socket has 108 bytes on Linux, one of which ends the path. */
function socketPathOf(path: string): string {
  if (!path.startsWith('/')) refuse('unix: needs a path that begins with /');
  if (Buffer.byteLength(path) > 107) refuse('the path of the socket has more than 107 bytes');
  const directory = statSync(dirname(path), { throwIfNoEntry: false });
  return directory?.isDirectory() ? path : refuse(`there is no directory ${dirname(path)}`);
}

const modeOf = (text: string): number =>
  /^0?[0-7]{3}$/.test(text) ? parseInt(text, 8) : refuse('must be an octal mode such as 0660');

function urlOf(url: string | undefined, issuer: string): string {
  if (url !== undefined) return baseOf(url);
  if (!isHttpUrl(issuer)) refuse('the issuer is no URL, so the URL of Accounts is required');
  if (new URL(issuer).pathname !== '/') refuse('the issuer has a path, so the URL of Accounts is required');
  return baseOf(issuer);
}

function listOf(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.includes('') ? refuse('has an empty part between commas') : parts;
}

const serviceOf = (name: string): string =>
  /^[a-z][a-z0-9-]{0,39}$/.test(name) ? name : refuse('is not the name of a service');

function secretOf(file: string | undefined, secret: string | undefined): () => string {
  if (file === undefined)
    return secret?.trim() ? () => secret : refuse('or the variable GUARD_SECRET is required');
  if (secret) refuse('the variable GUARD_SECRET is set too');
  const read = (): string => readFileSync(file, 'utf8').trim() || refuse(`${file} is empty`);
  read();
  return read;
}

function countOf(text: string, least: number): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : refuse('must be a whole number');
  return count >= least ? count : refuse(`must be at least ${least}`);
}

/** The effective settings without the secret, by the names of the flags. */
export const shownOf = (settings: Settings): Record<string, string | number> => ({
  listen: settings.listen
    .map((one) => ('path' in one ? `unix:${one.path}` : `${one.host}:${one.port}`))
    .join(),
  'socket-mode': `0${settings.socketMode.toString(8)}`,
  issuer: settings.issuer,
  url: settings.url,
  audience: settings.audience.join(),
  service: settings.service,
  'secret-file': settings.secretFile ?? 'the variable GUARD_SECRET',
  'max-staleness': settings.maxStaleness,
  remember: settings.remember,
});
