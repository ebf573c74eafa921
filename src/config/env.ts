import type { IpRange } from './ip-address.js';

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

/** How connections to the database are encrypted. */
export interface DatabaseTls {
  /** `verify`: the server proves that it is the host; `required`: only that it has a certificate by `ca`, if any */
  mode: 'required' | 'verify';
  /** PEM; undefined: the authorities that Node knows */
  ca: string | undefined;
}

export interface MysqlLocation {
  engine: 'mysql';
  user: string;
  password: string;
  database: string;
  hosts: { host: string; port: number }[];
  /** undefined: in clear text */
  tls?: DatabaseTls;
}

/** The whole configuration, checked. Durations are in seconds unless the name says otherwise. */
export class Env {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** undefined: no metrics */
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  /** of a collector of traces; undefined: no traces */
  readonly otlpEndpoint: string | undefined;
  readonly serviceName: string;
  /** of the traces that begin here, from 0 to 1 */
  readonly tracesSampleRatio: number;
  readonly database: SqliteLocation | MysqlLocation;
  readonly databasePoolSize: number;
  readonly redisUrl: string | undefined;
  /** PEM; undefined: the authorities that Node knows */
  readonly redisCa: string | undefined;
  readonly jwtKeysFile: string;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  readonly tokenTtl: number;
  readonly codeTtl: number;
  readonly sessionMaxAge: number;
  /** undefined where the limit is switched off */
  readonly rateLimitRegister: RateLimit | undefined;
  readonly rateLimitLogin: RateLimit | undefined;
  readonly rateLimitAddress: RateLimit | undefined;
  readonly rateLimitLookup: RateLimit | undefined;
  readonly argon2: Argon2Cost;
  readonly trustProxy: IpRange[];
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
