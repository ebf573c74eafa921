import { existsSync } from 'node:fs';
import { clockText, isClockWrong, measureOffset } from '../../auth/tokens/instance-faults.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { isVerified, type MysqlLocation } from '../../config/database-url.js';
import type { Env } from '../../config/env.js';
import { isSchemaNewer, isSchemaUpToDate } from '../../database/migrate.js';
import { NOW_MS } from '../../database/statements.js';
import { createSender } from '../../mail/smtp-sender.js';
import { openDatabase, withDatabase } from '../command/database.js';
import { inspect } from './doctor.js';
import { SERVER_CHECKS } from './schema-checks.js';

export interface Trial {
  what: string;
  works: boolean;
  detail: string;
}

const TIME_LIMIT_MS = 5000;
const MAX_DETAIL = 300;

/** Tries what the service will need, all at once. It changes nothing, and sends no email. */
export async function tryConnections(env: Env): Promise<Trial[]> {
  return (await Promise.all([tryDatabase(env), tryRedis(env), tryMailServer(env), tryKeys(env)])).flat();
}

/** @param work returns what it found; throws the reason if that does not work */
async function attempt(what: string, work: () => Promise<string> | string): Promise<Trial> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const seconds = TIME_LIMIT_MS / 1000;
  const timer = setTimeout(() => reject(new Error(`no answer within ${seconds} s`)), TIME_LIMIT_MS);
  try {
    return { what, works: true, detail: await Promise.race([work(), late]) };
  } catch (error) {
    return { what, works: false, detail: reasonOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** One line. The errors of several addresses, of a name that has them, have codes only. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message || code || String(error)).replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, MAX_DETAIL);
}

async function tryDatabase(env: Env): Promise<Trial[]> {
  const { database } = env;
  if (database.engine === 'sqlite') {
    if (!existsSync(database.file))
      return [{ what: 'database', works: true, detail: `the next start creates ${database.file}` }];
    const opened = attempt('database', async () => {
      await (await openDatabase(env, 'command')).destroy();
      return `SQLite, ${database.file}`;
    });
    return Promise.all([opened, trySchema(env)]);
  }
  const hosts = await Promise.all(database.hosts.map((address) => tryHost(database, address)));
  const first = database.hosts[hosts.findIndex(({ works }) => works)];
  if (!first) return hosts;
  return [
    ...hosts,
    ...(await Promise.all([
      trySchema(env),
      ...SERVER_CHECKS.map((check) =>
        attempt(check.claim, async () => {
          const faults = (await inspect(env, [check])).flatMap((finding) => finding.faults);
          if (faults.length > 0) throw new Error(`${faults.join('; ')}. ${check.remedy}`);
          return 'yes';
        }),
      ),
      tryClock(database, first),
      tryRights(database, first),
    ])),
  ];
}

type Address = MysqlLocation['hosts'][number];

function tryHost(location: MysqlLocation, { host, port }: Address): Promise<Trial> {
  return attempt(`database ${host}:${port}`, async () => {
    const { describeServer } = await import('../../database/mysql/mysql-server.js');
    const { type, tls } = await describeServer(location, host, port, TIME_LIMIT_MS);
    const verified = location.tls && isVerified(location.tls) ? ', certificate verified' : '';
    return `${type}, logged in, ${tls || 'no TLS'}${verified}`;
  });
}

function trySchema(env: Env): Promise<Trial> {
  return attempt('schema', () =>
    withDatabase(env, 'inspection', async (dataSource) => {
      if (await isSchemaUpToDate(dataSource))
        return (await isSchemaNewer(dataSource)) ? 'of a newer version' : 'up to date';
      if (env.migrations === 'run') return 'the next start migrates it';
      throw new Error('not up to date, and MIGRATIONS=check: run accounts migrate');
    }),
  );
}

function tryClock(location: MysqlLocation, { host, port }: Address): Promise<Trial> {
  return attempt('clock', async () => {
    const { askServer, loginTo } = await import('../../database/mysql/mysql-server.js');
    return askServer(loginTo(location, host, port), TIME_LIMIT_MS, async (ask) => {
      const findTime = async (): Promise<number> => Number((await ask(`SELECT ${NOW_MS} AS now`))[0]!['now']);
      const clockOffset = await measureOffset(findTime);
      if (clockOffset === undefined) throw new Error('the database answers too slowly to compare clocks');
      const text = clockText(clockOffset);
      if (isClockWrong({ clockOffset })) throw new Error(`${text}: run chrony on both machines`);
      return text;
    });
  });
}

/** No such table, or a read-only server: the server has looked for the rights before. */
const ALLOWED = new Set([1146, 1290, 1836]);
const WITHOUT_ROWS = [
  'INSERT INTO users SELECT * FROM users WHERE 1 = 0',
  'UPDATE users SET id = id WHERE 1 = 0',
  'DELETE FROM users WHERE 1 = 0',
];

function tryRights(location: MysqlLocation, { host, port }: Address): Promise<Trial> {
  return attempt('rights', async () => {
    const { askServer, loginTo } = await import('../../database/mysql/mysql-server.js');
    const login = { ...loginTo(location, host, port), database: location.database };
    return askServer(login, TIME_LIMIT_MS, async (ask) => {
      for (const sql of WITHOUT_ROWS)
        await ask(sql).catch((error: { errno?: number }) => {
          if (!ALLOWED.has(error.errno ?? 0)) throw error;
        });
      return 'the user of DATABASE_URL may read and change rows';
    });
  });
}

async function tryRedis({ redisUrl, redisCa }: Env): Promise<Trial[]> {
  if (redisUrl === undefined) return [];
  const { host, protocol } = new URL(redisUrl);
  const trial = attempt(`Redis ${host}`, async () => {
    const { readEvictionPolicy } = await import('../../rate-limits/redis-window-store.js');
    const policy = await readEvictionPolicy(redisUrl, redisCa, TIME_LIMIT_MS);
    if (policy === 'noeviction')
      throw new Error('maxmemory-policy is noeviction: a full Redis counts nothing; set volatile-lru');
    const tls = protocol === 'rediss:' ? 'TLS, certificate verified' : 'no TLS';
    return `logged in, ${tls}, ${policy ?? 'policy unknown'}`;
  });
  return [await trial];
}

async function tryMailServer(env: Env): Promise<Trial[]> {
  const { smtp } = env;
  if (!smtp || 'directory' in smtp) return [];
  const tls = smtp.secure ? 'TLS' : smtp.requireTls ? 'STARTTLS' : 'TLS if the server offers it';
  const trial = attempt(`mail server ${smtp.host}:${smtp.port}`, async () => {
    await (await createSender(env, TIME_LIMIT_MS))!.verify();
    return `${tls}, ${smtp.login ? 'logged in' : 'no log-in'}`;
  });
  return [await trial];
}

async function tryKeys({ jwtKeysFile, production }: Env): Promise<Trial[]> {
  if (!production && !existsSync(jwtKeysFile)) return [];
  return [await attempt('JWT_KEYS_FILE', () => `${loadKeyFile(jwtKeysFile, true).length} keys`)];
}
