import type { HttpServer } from './http-server.ts';
import { keysFile } from './keys-file.ts';

export type SideName = 'service' | 'baseline';

export const SIDES: readonly SideName[] = ['service', 'baseline'];

/** Alternately driven with the same load, by name; two names may share a server. */
export interface Contenders<Name extends string> {
  /** in the order of the first round */
  names: readonly Name[];
  servers: Record<Name, HttpServer>;
  /** undefined for SQLite, which has no process of its own */
  databasePid: number | undefined;
}

/** The same variables for all; the baseline reads those that it has a use for. */
export function environment(databaseUrl: string, directory: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '20',
    JWT_KEYS_FILE: keysFile(directory),
    // One client makes all requests, so the limits would stop it at once.
    RATE_LIMIT_REGISTER: 'off',
    RATE_LIMIT_LOGIN: 'off',
    RATE_LIMIT_LOOKUP: 'off',
    RATE_LIMIT_FORGOT: 'off',
    RATE_LIMIT_CODE: 'off',
    // A line of log for each request is the reader's choice, not the service's cost.
    LOG_LEVEL: 'warn',
    CODE_TTL: '10m',
  };
}

export function databaseName(contender: string): string {
  return `bench_${contender.replaceAll(',', '').replaceAll(/\W+/g, '_')}`;
}
