/** `limit` requests in any window of `windowMs` milliseconds. */
export interface RateLimit {
  limit: number;
  windowMs: number;
}

export interface Argon2Cost {
  memoryKib: number;
  timeCost: number;
  parallelism: number;
}

export interface SqliteLocation {
  engine: 'sqlite';
  file: string;
}

export interface MysqlLocation {
  engine: 'mysql';
  user: string;
  password: string;
  database: string;
  hosts: { host: string; port: number }[];
}

/** The whole configuration, checked. Durations are in seconds unless the name says otherwise. */
export class Env {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  readonly database: SqliteLocation | MysqlLocation;
  readonly databasePoolSize: number;
  readonly redisUrl: string | undefined;
  readonly jwtKeysFile: string;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  readonly tokenTtl: number;
  readonly codeTtl: number;
  readonly sessionMaxAge: number;
  /** undefined where the limit is switched off */
  readonly rateLimitRegister: RateLimit | undefined;
  readonly rateLimitLogin: RateLimit | undefined;
  readonly argon2: Argon2Cost;
  readonly trustProxy: string[];
  readonly corsOrigins: string[];
  readonly passwordMinLength: number;
  /** organizations that one user may belong to */
  readonly maxOrgsPerUser: number;
  readonly migrations: 'run' | 'check';
  readonly docs: boolean;
  readonly logLevel: string;
  /** processes on the one port, `auto` for as many as there are cores */
  readonly webConcurrency: number | 'auto';

  constructor(values: Env) {
    Object.assign(this, values);
    Object.freeze(this);
  }
}
