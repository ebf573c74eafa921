import { certificates, type Format, oneOf, type Reader, variable } from './readers.js';

export interface SqliteLocation {
  engine: 'sqlite';
  file: string;
}

export interface DatabaseTls {
  /** `required` checks the certificate only if `ca` is set, and never checks the host name. */
  mode: 'required' | 'verify';
  ca: string | undefined;
}

/** Whether the certificate of the server is checked. */
export function isVerified({ mode, ca }: DatabaseTls): boolean {
  return mode === 'verify' || ca !== undefined;
}

export interface MysqlLocation {
  engine: 'mysql';
  user: string;
  password: string;
  database: string;
  hosts: { host: string; port: number }[];
  tls?: DatabaseTls;
}

const MYSQL_URL = /^(?:mysql|mariadb):\/\/([^:@/]*)(?::([^@/]*))?@([^/?]+)\/([^/?#]+)$/;
const NO_FILE = /^(?:$|:|file:)/;
const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;

const DATABASE: Format<SqliteLocation | MysqlLocation> = {
  expected: 'sqlite:FILE or mysql://user:password@host:port/database',
  parse: parseDatabaseUrl,
};

const readLocation = variable('DATABASE_URL', 'sqlite:./data/accounts.sqlite', DATABASE);
const readMode = variable('DATABASE_SSL', 'off', oneOf('off', 'required', 'verify'));

export const database: Reader<SqliteLocation | MysqlLocation> = (variables) => {
  const location = readLocation(variables);
  const mode = readMode(variables);
  const ca = certificates(
    'DATABASE_SSL_CA',
    'DATABASE_SSL=required or verify',
    () => mode !== 'off',
  )(variables);
  if (location === undefined || (mode !== 'required' && mode !== 'verify')) return location;
  if (location.engine === 'mysql') return { ...location, tls: { mode, ca } };
  variables.problems.push('DATABASE_SSL: may be set only with mysql://');
  return location;
};

/** The URL class rejects several hosts: `mysql://user:password@host:port[,host:port…]/database`. */
function parseDatabaseUrl(url: string): SqliteLocation | MysqlLocation | undefined {
  if (url.startsWith('sqlite:')) {
    const file = url.slice('sqlite:'.length);
    return NO_FILE.test(file) ? undefined : { engine: 'sqlite', file };
  }
  const [, user, password = '', hostList, name] = MYSQL_URL.exec(url) ?? [];
  if (user === undefined || hostList === undefined || name === undefined) return undefined;

  const hosts = hostList.split(',').map(parseHost);
  if (!hosts.every((host) => host !== undefined)) return undefined;
  try {
    return {
      engine: 'mysql',
      user: decodeURIComponent(user),
      password: decodeURIComponent(password),
      database: decodeURIComponent(name),
      hosts,
    };
  } catch {
    return undefined;
  }
}

function parseHost(text: string): { host: string; port: number } | undefined {
  const [, host, port = '3306'] = HOST.exec(text) ?? [];
  if (!host || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
