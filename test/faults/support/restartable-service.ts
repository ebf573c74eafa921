import { freePort } from '../../../tooling/servers/free-port.js';
import {
  type Environment,
  type ServiceProcess,
  spawnService,
  untilListening,
} from '../../support/service-process.js';
import type { Engine } from '../../support/engine.js';
import { anEmail } from '../../support/personas.js';
import { asString, clientOf, type Send } from '../../support/service-client.js';
import { closeAfterTest } from './closing.js';
import { Storage } from './storage.js';

/** Limits off and hashing cheap, so that a fault meets as many writes as possible. */
export const UNLIMITED: Environment = {
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
  RATE_LIMIT_LOOKUP: 'off',
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

  async start(timeoutMs?: number): Promise<void> {
    this.launch();
    await this.ready(timeoutMs);
  }

  async ready(timeoutMs?: number): Promise<void> {
    await untilListening(this.process, timeoutMs);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.current?.child.kill('SIGKILL');
    await this.current?.exited;
  }

  close(): Promise<void> {
    return this.kill();
  }

  /** SIGTERM; gives the exit code and how long it took. */
  async stop(): Promise<{ code: number | null; tookMs: number }> {
    const since = performance.now();
    this.process.child.kill('SIGTERM');
    const code = await this.process.exited;
    return { code, tookMs: performance.now() - since };
  }

  /** Waits until the process ends by itself; gives the exit code. */
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
export async function startOn(
  engine: Engine,
  env?: Environment,
): Promise<{ storage: Storage; service: RestartableService; send: Send }> {
  const storage = await closeAfterTest(Storage.on(engine));
  const service = await startAt(storage, env);
  return { storage, service, send: clientOf(service.url) };
}

/** Until the test ends. */
export async function startAt(storage: Storage, env?: Environment): Promise<RestartableService> {
  const service = await closeAfterTest(RestartableService.on(storage, env));
  await service.start();
  return service;
}

/** A user with `PASSWORD` who is logged in. */
export async function register(send: Send, email = anEmail()): Promise<{ email: string; token: string }> {
  const { status, body } = await send('POST', '/api/auth/register', { body: { email, password: PASSWORD } });
  if (status !== 201) throw new Error(`registering was answered ${status}`);
  return { email, token: asString(body['token']) };
}
