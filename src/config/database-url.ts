import type { MysqlLocation, SqliteLocation } from './env.js';

const MYSQL_URL = /^(?:mysql|mariadb):\/\/([^:@/]*)(?::([^@/]*))?@([^/?]+)\/([^/?#]+)$/;
/** Empty, or what SQLite takes for something other than a file, such as `:memory:`. */
const NO_FILE = /^(?:$|:|file:)/;
const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;

/** The URL class refuses several hosts: `mysql://user:password@host:port[,host:port…]/database`. */
export function parseDatabaseUrl(url: string): SqliteLocation | MysqlLocation | undefined {
  if (url.startsWith('sqlite:')) {
    const file = url.slice('sqlite:'.length);
    return NO_FILE.test(file) ? undefined : { engine: 'sqlite', file };
  }
  const [, user, password = '', hostList, database] = MYSQL_URL.exec(url) ?? [];
  if (user === undefined || hostList === undefined || database === undefined) return undefined;

  const hosts = hostList.split(',').map(parseHost);
  if (!hosts.every((host) => host !== undefined)) return undefined;
  try {
    return {
      engine: 'mysql',
      user: decodeURIComponent(user),
      password: decodeURIComponent(password),
      database: decodeURIComponent(database),
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
