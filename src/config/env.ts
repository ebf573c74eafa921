import type { IpRange } from './ip-address.js';

/** Allows `limit` requests in any window of `windowMs` milliseconds. */
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

export interface DatabaseTls {
  /** `required` checks the certificate only where `ca` is set, and never the host name */
  mode: 'required' | 'verify';
  /** PEM; undefined means Node's authorities */
  ca: string | undefined;
}

export interface MysqlLocation {
  engine: 'mysql';
  user: string;
  password: string;
  database: string;
  hosts: { host: string; port: number }[];
  tls?: DatabaseTls;
}

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte; otherwise STARTTLS if the server offers it */
  secure: boolean;
  /** STARTTLS in any case */
  requireTls: boolean;
  login: { user: string; password: string } | undefined;
  ca: string | undefined;
}

export interface MailSender {
  name: string;
  address: string;
}

/** The validated configuration. Durations are in seconds unless the name says otherwise. */
export class Env {
  readonly production: boolean;
  /** variables that name a file which others can read */
  readonly exposedFiles: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  readonly otlpEndpoint: string | undefined;
  readonly serviceName: string;
  /** share of the traces that begin here, from 0 to 1 */
  readonly tracesSampleRatio: number;
  readonly database: SqliteLocation | MysqlLocation;
  readonly databasePoolSize: number;
  readonly redisUrl: string | undefined;
  readonly redisCa: string | undefined;
  readonly smtp: SmtpServer | undefined;
  /** set if `smtp` is */
  readonly mailFrom: MailSender | undefined;
  /** directory; undefined means the templates that are shipped */
  readonly mailTemplates: string | undefined;
  readonly jwtKeysFile: string;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  readonly tokenTtl: number;
  /** for tokens of sessions that are refreshed */
  readonly accessTokenTtl: number;
  readonly codeTtl: number;
  readonly sessionMaxAge: number;
  /** how long after its last refresh a session ends */
  readonly sessionIdle: number;
  /** how long the refresh token before the last one is accepted */
  readonly refreshGrace: number;
  /** undefined means that the limit is off */
  readonly rateLimitRegister: RateLimit | undefined;
  readonly rateLimitLogin: RateLimit | undefined;
  readonly rateLimitAddress: RateLimit | undefined;
  readonly rateLimitAccount: RateLimit | undefined;
  readonly rateLimitLookup: RateLimit | undefined;
  readonly rateLimitForgot: RateLimit | undefined;
  readonly rateLimitCode: RateLimit | undefined;
  readonly rateLimitWrites: RateLimit | undefined;
  readonly argon2: Argon2Cost;
  readonly trustProxy: IpRange[];
  readonly corsOrigins: string[];
  readonly passwordMinLength: number;
  readonly eventsRetention: number;
  readonly maxOrgsPerUser: number;
  readonly orgRestoreWindow: number;
  readonly addMembers: 'registered' | 'verified';
  readonly migrations: 'run' | 'check';
  readonly docs: boolean;
  readonly logLevel: string;
  readonly webConcurrency: number | 'auto';

  constructor(values: Env) {
    Object.assign(this, values);
    Object.freeze(this);
  }
}
