import { join } from 'node:path';

export type SideName = 'service' | 'baseline';

export const SIDES: readonly SideName[] = ['service', 'baseline'];

/** The same variables for both; the baseline reads those that it has a use for. */
export function environment(side: SideName, databaseUrl: string, directory: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '10',
    JWT_KEYS_FILE: join(directory, `${side}-jwks.json`),
    // One machine makes all the requests, so the limits would stop it at once.
    RATE_LIMIT_REGISTER: 'off',
    RATE_LIMIT_LOGIN: 'off',
    // A line of log for each request is the reader's choice, not the service's cost.
    LOG_LEVEL: 'warn',
    CODE_TTL: '10m',
    CODE_TTL_SECONDS: '600',
  };
}
