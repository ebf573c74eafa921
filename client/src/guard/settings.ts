import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { baseOf, isHttpUrl } from '../base-url.ts';
import { SERVICE_NAME } from '../service/claims.ts';
import { messageOf } from '../service/reasons.ts';
import { type Address, addressOf } from './listen.ts';
import { refuse, WrongUsage } from './wrong-usage.ts';

/** The version of the package. */
export const VERSION = '0.5.0-dev';

export interface Settings {
  listen: Address[];
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
  flag(
    'listen ADDRESS',
    'IP:PORT, [::1]:PORT, localhost:PORT or unix:/PATH; may be repeated',
    '127.0.0.1:9190',
  ),
  flag('allow-remote', 'permits an address that is not loopback, without encryption'),
  flag('socket-mode MODE', 'mode of the socket file', '0660'),
  flag('issuer TEXT', 'JWT_ISSUER of Accounts; required'),
  flag('url URL', 'where Accounts is; by default the issuer'),
  flag('audience NAMES', 'name of the service, and JWT_AUDIENCE for full access tokens; required'),
  flag('service NAME', 'name of a service with the scopes of the guard; required'),
  flag('secret-file FILE', 'its secret, read for each request; or the variable GUARD_SECRET'),
  flag('max-staleness SECONDS', 'how long the event feed may be silent, at least 4', '30'),
  flag('remember COUNT', 'tokens, sessions and memberships that the guard caches', '100000'),
];

function flag(usage: string, meaning: string, fallback?: string): Flag {
  const [name = '', value] = usage.split(' ');
  return { name, meaning, ...(value && { value }), ...(fallback && { fallback }) };
}

const REQUIRED: Readonly<Record<string, string>> = {
  url: 'is required, because the issuer has a path or is not a URL',
  'secret-file': 'is required, or the variable GUARD_SECRET',
};

const NO_FLAG =
  'besides flags and their values, only check or conformance may be given, as the first argument';

export const variableOf = (name: string): string => `GUARD_${name.toUpperCase().replaceAll('-', '_')}`;

/** @throws WrongUsage */
export function readSettings(argv: readonly string[], env: NodeJS.ProcessEnv): Settings {
  const wrong: string[] = [];
  const given = givenBy(argv, env, wrong);
  const text = (name: string): string | undefined => given.get(name)?.join();
  const read = <T>(name: string, parse: (text: string) => T): T | undefined => {
    try {
      return parse(text(name) || refuse(REQUIRED[name] ?? 'is required'));
    } catch (error) {
      wrong.push(`--${name}: ${messageOf(error).replace('baseUrl ', '')}`);
      return undefined;
    }
  };
  const issuer = read('issuer', (one) => one);
  if (issuer !== undefined && !given.has('url') && isUrlOfAccounts(issuer)) given.set('url', [issuer]);
  const secret = env['GUARD_SECRET']?.trim();
  const secretFile = text('secret-file');
  if (secret && secretFile !== undefined) wrong.push('--secret-file: GUARD_SECRET is set too');
  const settings = {
    listen: read('listen', (list) => listOf(list).map((one) => addressOf(one, given.has('allow-remote')))),
    socketMode: read('socket-mode', modeOf),
    issuer,
    url: issuer && read('url', baseOf),
    audience: read('audience', listOf),
    service: read('service', (name) =>
      SERVICE_NAME.test(name) ? name : refuse('is not the name of a service'),
    ),
    secret: secret ? () => secret : read('secret-file', secretOf),
    secretFile,
    maxStaleness: read('max-staleness', (count) => countOf(count, 4)),
    remember: read('remember', (count) => countOf(count, 1)),
  };
  if (wrong.length > 0) throw new WrongUsage(wrong);
  return settings as Settings;
}

/** The effective settings without the secret, by the names of the flags. */
export function shownOf(settings: Settings): Record<string, string | number> {
  const { listen, socketMode, issuer, url, audience, service, secretFile, maxStaleness, remember } = settings;
  return {
    listen: listen.map((one) => ('path' in one ? `unix:${one.path}` : `${one.host}:${one.port}`)).join(),
    'socket-mode': `0${socketMode.toString(8)}`,
    issuer,
    url,
    audience: audience.join(),
    service,
    'secret-file': secretFile ?? 'the variable GUARD_SECRET',
    'max-staleness': maxStaleness,
    remember,
  };
}

/** A flag comes before its variable, and an empty variable counts as absent. */
function givenBy(argv: readonly string[], env: NodeJS.ProcessEnv, wrong: string[]): Map<string, string[]> {
  const given = new Map<string, string[]>();
  const options = Object.fromEntries(
    FLAGS.map(({ name, value }) => [name, { type: value ? ('string' as const) : ('boolean' as const) }]),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'option') {
      const before = tokens[index - 1];
      // It is the value of an unknown flag, which has a line already.
      const isValue = before?.kind === 'option' && !FLAGS.some(({ name }) => name === before.name);
      if (!isValue) wrong.push(NO_FLAG);
      continue;
    }
    const known = FLAGS.find(({ name }) => name === token.name);
    // The name of an unknown flag could be a secret, so that only letters and hyphens are shown.
    const name = /^[a-z-]{1,30}$/i.exec(token.name)?.[0] ?? '…';
    if (!known)
      wrong.push(`--${name}: there is no such flag${name === 'secret' ? ', only --secret-file' : ''}`);
    else if (!known.value && token.value !== undefined) wrong.push(`--${name}: takes no value`);
    else if (name !== 'listen' && given.has(name)) wrong.push(`--${name}: is given twice`);
    else given.set(name, [...(given.get(name) ?? []), known.value ? (token.value ?? '').trim() : 'true']);
  }
  wrong.push(...unknownVariablesOf(env));
  for (const { name, value, fallback } of FLAGS) {
    const text = env[variableOf(name)]?.trim() || fallback;
    if (given.has(name) || text === undefined) continue;
    if (value || text === 'true') given.set(name, [text]);
    else if (text !== 'false') wrong.push(`${variableOf(name)}: must be true or false`);
  }
  return given;
}

/** Kubernetes sets the excepted ones in every pod next to a service named `guard`. */
function unknownVariablesOf(env: NodeJS.ProcessEnv): string[] {
  const known = new Set(['GUARD_SECRET', ...FLAGS.map(({ name }) => variableOf(name))]);
  return Object.keys(env)
    .filter((name) => name.startsWith('GUARD_') && env[name]?.trim() && !known.has(name))
    .filter((name) => !/^GUARD_(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/.test(name))
    .map((name) => `there is no variable ${/^GUARD_[A-Z_]{1,30}$/.test(name) ? name : 'GUARD_…'}`);
}

const modeOf = (text: string): number =>
  /^0?[0-7]{3}$/.test(text) ? parseInt(text, 8) : refuse('must be an octal mode such as 0660');

/** Whether Accounts is where the issuer says. */
const isUrlOfAccounts = (issuer: string): boolean => isHttpUrl(issuer) && new URL(issuer).pathname === '/';

function listOf(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.includes('') ? refuse('has an empty part between commas') : parts;
}

/** A file that cannot be read is a mistake at the start, and later a request to Accounts that fails. */
function secretOf(file: string): () => string {
  const read = (): string => readFileSync(file, 'utf8').trim() || refuse(`${file} is empty`);
  try {
    read();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    refuse(code === undefined ? message : `${file} cannot be read (${code})`);
  }
  return read;
}

function countOf(text: string, least: number): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : refuse('must be a whole number');
  return count >= least ? count : refuse(`must be at least ${least}`);
}
