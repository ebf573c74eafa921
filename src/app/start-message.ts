import type { Logger } from 'pino';
import type { Env } from '../config/env.js';

export function announce(env: Env, url: string, log: Logger): void {
  log.info({
    msg: 'listening',
    url,
    api: `${url}/api`,
    docs: env.docs ? `${url}/docs` : 'off',
    data: databaseName(env),
    keys: env.jwtKeysFile,
    pid: process.pid,
  });
}

function databaseName({ database }: Env): string {
  if (database.engine === 'sqlite') return database.file;
  const hosts = database.hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
  return `${database.database} on ${hosts}`;
}
