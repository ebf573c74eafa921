import { afterAll, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { MariaDbServer } from '../../../tooling/servers/mariadb.js';
import type { Database, Row } from '../../support/database.js';
import type { Engine } from '../../support/engine.js';
import { anInstallation, type Installation } from '../../support/installation.js';
import { type Instance, startOwnService } from '../../support/service.js';
import {
  type Environment,
  type ServiceProcess,
  spawnService,
  untilListening,
} from '../../support/service-process.js';
import { freePort } from '../../../client/src/free-port.ts';
import { recordedEvent, type Snapshot } from './invariants.js';
import { anEmail, type Session } from '../../support/personas.js';
import { clientOf, type Send } from '../../support/service-client.js';

type Closable = { close(): unknown } | { stop(): Promise<unknown> };

/** Closes it after the tests of the file or the `describe` that is being collected; what started last is closed first. */
export async function closeAfterAll<T extends Closable>(starting: Promise<T> | T): Promise<T> {
  const started = await starting;
  afterAll(async () => void (await close(started)));
  return started;
}

/** Closes it after the running test; what started last is closed first. */
export async function closeAfterTest<T extends Closable>(starting: Promise<T> | T): Promise<T> {
  const started = await starting;
  onTestFinished(async () => void (await close(started)));
  return started;
}

const close = (started: Closable): unknown => ('close' in started ? started.close() : started.stop());

export const ENGINES: readonly Engine[] = ['sqlite', 'mariadb'];

/** What outlives the processes of the service, on either engine, seen as a whole. */
export class Storage {
  private constructor(
    readonly installation: Installation,
    readonly isServer: boolean,
    private readonly ownServer?: MariaDbServer,
  ) {}

  /** @param options of its MariaDB server */
  static async on(engine: Engine, options: Parameters<typeof MariaDbServer.start>[0] = {}): Promise<Storage> {
    const server = engine === 'mariadb' ? await MariaDbServer.start(options) : undefined;
    const directory = temporaryDirectory('storage');
    const installation = await anInstallation({ engine, mariadbPort: server?.port, directory });
    return new Storage(installation, engine === 'mariadb', server);
  }

  /** On a server that another test starts and ends. */
  static async at(mariadbPort: number): Promise<Storage> {
    return new Storage(await anInstallation({ engine: 'mariadb', mariadbPort }), true);
  }

  get server(): MariaDbServer {
    if (!this.ownServer) throw new Error('this storage has no server of its own');
    return this.ownServer;
  }

  query(sql: string, values?: Parameters<Installation['db']['query']>[1]): Promise<Row[]> {
    return this.installation.db.query(sql, values);
  }

  /** To be read when nothing is under way. */
  async snapshot(): Promise<Snapshot> {
    return {
      users: await this.query('SELECT id, email, disabled_at AS disabledAt FROM users'),
      orgs: await this.query('SELECT id, deleted_at AS deletedAt, purge_began_at AS purgeBeganAt FROM orgs'),
      members: await this.query('SELECT org_id AS orgId, user_id AS userId, role FROM members'),
      sessions: await this.query(
        'SELECT id, user_id AS userId, login_id AS loginId, branch_id AS branchId, code_hash AS codeHash FROM sessions',
      ),
      events: (await this.query('SELECT * FROM events')).map(recordedEvent),
    } as Snapshot;
  }

  async schema(): Promise<unknown[]> {
    if (!this.isServer) return this.query('SELECT type, name, sql FROM sqlite_master ORDER BY type, name');
    const tables = (await this.query('SHOW TABLES')).map((row) => String(Object.values(row)[0]));
    const made = await Promise.all(tables.map((table) => this.query(`SHOW CREATE TABLE ${table}`)));
    return made.map(([row]) => String(row!['Create Table']).replace(/ AUTO_INCREMENT=\d+/, ''));
  }

  /** What the engine itself says of its files; empty: nothing is wrong. */
  async faults(): Promise<string[]> {
    if (this.isServer) return [];
    const checks = await this.query('PRAGMA integrity_check');
    const orphans = await this.query('PRAGMA foreign_key_check');
    const said = checks.map((row) => String(Object.values(row)[0]));
    return [...said.filter((line) => line !== 'ok'), ...orphans.map((row) => JSON.stringify(row))];
  }

  async close(): Promise<void> {
    await this.installation.remove();
    await this.ownServer?.close();
  }
}

export function startInstance(installation: Installation, env: Environment = {}): Promise<Instance> {
  return startOwnService({ installation, env });
}

export function startInstances(installation: Installation, envs: Environment[]): Promise<Instance[]> {
  return Promise.all(envs.map((env) => startInstance(installation, env)));
}

export async function stopAll(instances: readonly Instance[]): Promise<void> {
  await Promise.all(instances.map((instance) => instance.stop()));
}

export function through(port: number, installation: Installation): Record<string, string> {
  return { DATABASE_URL: hostsUrl(installation, [port]) };
}

/** The same database, by several ports of this machine, the preferred one first. */
export function hostsUrl({ db }: Installation, ports: readonly number[]): string {
  const name = new URL(db.url).pathname;
  return `mysql://root@${ports.map((port) => `127.0.0.1:${port}`).join(',')}${name}`;
}

/** Limits off and hashing cheap, so that a fault meets as many writes as possible. */
export const UNLIMITED: Environment = {
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
  RATE_LIMIT_LOOKUP: 'off',
  RATE_LIMIT_PROVIDER: 'off',
  MAX_ORGS_PER_USER: '100000',
};

/** One place in a deployment: process after process of the built service, on the same port and data. */
export class RestartableService {
  private current: ServiceProcess | undefined;

  private constructor(
    readonly url: string,
    private readonly storage: Storage,
    private readonly env: Environment,
  ) {}

  static async on(storage: Storage, env: Environment = UNLIMITED): Promise<RestartableService> {
    const port = await freePort();
    return new RestartableService(`http://127.0.0.1:${port}`, storage, { ...env, PORT: String(port) });
  }

  get pid(): number {
    return this.process.child.pid!;
  }

  get logs(): readonly string[] {
    return this.process.logs;
  }

  launch(): void {
    const { directory, env } = this.storage.installation;
    this.current = spawnService(directory, { ...env, ...this.env });
  }

  async start(timeoutMs?: number): Promise<number> {
    const since = performance.now();
    this.launch();
    await untilListening(this.process, timeoutMs);
    return performance.now() - since;
  }

  async kill(): Promise<void> {
    this.current?.child.kill('SIGKILL');
    await this.current?.exited;
  }

  close(): Promise<void> {
    return this.kill();
  }

  freeze(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  async stop(): Promise<{ code: number | null; tookMs: number }> {
    const since = performance.now();
    this.process.child.kill('SIGTERM');
    const code = await this.process.exited;
    return { code, tookMs: performance.now() - since };
  }

  ended(): Promise<number | null> {
    return this.process.exited;
  }

  private get process(): ServiceProcess {
    if (!this.current) throw new Error('the service was never started');
    return this.current;
  }
}

export const PASSWORD = 'correct horse battery staple';

/** Both until the test ends; the service listens. */
export async function startOn(engine: Engine, env?: Environment) {
  const storage = await closeAfterTest(Storage.on(engine));
  const service = await startAt(storage, env);
  const send = clientOf(service.url);
  return { storage, service, send, ask: askOf(send) };
}

/** Sends a request whose answer must have that status. */
export type Ask = <Body = Record<string, unknown>>(
  status: number,
  method: string,
  path: string,
  body?: object,
  token?: string,
) => Promise<Body>;

export const askOf =
  (send: Send): Ask =>
  async <Body>(...[status, method, path, body, token]: Parameters<Ask>) => {
    const answer = await send(method, path, { body, token });
    if (answer.status !== status)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.code}, not ${status}`);
    return answer.body as Body;
  };

export async function startAt(storage: Storage, env?: Environment): Promise<RestartableService> {
  const service = await closeAfterTest(RestartableService.on(storage, env));
  await service.start();
  return service;
}

/** A user with `PASSWORD` who is logged in. */
export async function register(send: Send, email = anEmail()) {
  const body = { email, password: PASSWORD };
  const { token, user } = await askOf(send)<Session>(201, 'POST', '/api/auth/register', body);
  return { email, token, id: user.id };
}

export async function countOf(
  db: Pick<Database, 'query'>,
  from: string,
  values: string[] = [],
): Promise<number> {
  const [row] = await db.query(`SELECT COUNT(*) AS found FROM ${from}`, values);
  return Number(row!['found']);
}
