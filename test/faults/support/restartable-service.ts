import { type Environment, spawnService, type ServiceProcess } from '../../support/service-process.js';
import { freePort } from './ports.js';
import type { Storage } from './storage.js';
import { waitFor } from '../../support/wait.js';

const START_TIMEOUT_MS = 20_000;

/** Limits off and hashing cheap, so that a fault meets as many writes as possible. */
export const UNLIMITED: Environment = {
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
  RATE_LIMIT_LOOKUP: 'off',
};

/** One place in a deployment: process after process of the built service, on the same port and data. */
export class RestartableService {
  private readonly storage: Storage;
  private readonly env: Environment;
  private readonly port: number;
  private current: ServiceProcess | undefined;

  private constructor(storage: Storage, env: Environment, port: number) {
    this.storage = storage;
    this.env = env;
    this.port = port;
  }

  static async on(storage: Storage, env: Environment = UNLIMITED): Promise<RestartableService> {
    return new RestartableService(storage, env, await freePort());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.process.child.pid ?? 0;
  }

  get logs(): readonly string[] {
    return this.process.logs;
  }

  /** Starts a process without waiting for anything. */
  launch(): void {
    const env = { ...this.storage.env, ...this.env, PORT: String(this.port) };
    this.current = spawnService(this.storage.directory, env);
  }

  async start(timeoutMs = START_TIMEOUT_MS): Promise<void> {
    this.launch();
    await this.ready(timeoutMs);
  }

  async ready(timeoutMs = START_TIMEOUT_MS): Promise<void> {
    const { child } = this.process;
    const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
    await waitFor(`${this.url} is ready`, timeoutMs, async () => {
      return hasEnded() || (await fetch(`${this.url}/health/ready`)).ok;
    });
    if (hasEnded()) throw new Error(`the service did not start:\n${this.logs.slice(-20).join('\n')}`);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.current?.child.kill('SIGKILL');
    await this.current?.exited;
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
