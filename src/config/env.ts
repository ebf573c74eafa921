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

export interface DatabaseTls {
  /** `required` checks the certificate only where `ca` is set, and never the host name */
  mode: 'required' | 'verify';
  /** PEM; undefined: Node's authorities */
  ca: string | undefined;
}

export interface MysqlLocation {
  engine: 'mysql';
  user: string;
  password: string;
  database: string;
  hosts: { host: string; port: number }[];
  /** undefined: no encryption */
  tls?: DatabaseTls;
}

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte; else STARTTLS where the server offers it */
  secure: boolean;
  /** STARTTLS in any case */
  requireTls: boolean;
  login: { user: string; password: string } | undefined;
  /** PEM; undefined: Node's authorities */
  ca: string | undefined;
}

export interface MailSender {
  /** may be empty */
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
  /** PEM; undefined: Node's authorities */
  readonly redisCa: string | undefined;
  /** undefined: no mail */
  readonly smtp: SmtpServer | undefined;
  /** there with `smtp` */
  readonly mailFrom: MailSender | undefined;
  /** directory; undefined: those that are shipped */
  readonly mailTemplates: string | undefined;
  readonly jwtKeysFile: string;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  readonly tokenTtl: number;
  /** of tokens of sessions that are refreshed */
  readonly accessTokenTtl: number;
  readonly codeTtl: number;
  readonly sessionMaxAge: number;
  /** how long after its last refresh a session ends */
  readonly sessionIdle: number;
  /** how long the refresh token before the last one is accepted */
  readonly refreshGrace: number;
  /** undefined when the limit is off */
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
  /** how long the record of changes is kept, in seconds */
  readonly eventsRetention: number;
  /** organizations that one user may belong to */
  readonly maxOrgsPerUser: number;
  /** how long a deleted organization can be restored, in seconds */
  readonly orgRestoreWindow: number;
  /** whether accounts whose e-mail is not verified can be added to organizations, too */
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
