import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../wait.ts';
import { killAtExit, removeDirectory } from './at-exit.ts';
import { threadsOf } from './threads.ts';

export interface Command extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  program: string;
  args: readonly string[];
  /** where it writes; a log of its own without */
  output?: number;
}

const LAST_LINES = 60;

/** A child process in a directory of its own; signals go to its pid only. */
export class ServerProcess {
  readonly name: string;
  readonly directory: string;
  private readonly logFile: string;
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(name: string, directory: string) {
    this.name = name;
    this.directory = directory;
    this.logFile = join(directory, 'server.log');
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  launch({ program, args, output, ...options }: Command): void {
    if (this.child) throw new Error(`${this.name} is running already`);
    const log = output ?? openSync(this.logFile, 'a');
    const child = spawn(program, args, { stdio: ['ignore', log, log], ...options });
    if (output === undefined) closeSync(log);
    killAtExit(child);
    this.child = child;
    this.ended = new Promise((resolve) => {
      const over = (): void => {
        if (this.child === child) this.child = undefined;
        resolve();
      };
      child.once('error', over);
      child.once('exit', over);
    });
  }

  /** Until `probe` gives true; fails at once, with the end of its log, when the process ends. */
  async waitUntil(
    what: string,
    timeoutMs: number,
    probe: () => Promise<boolean>,
    pauseMs?: number,
  ): Promise<void> {
    await waitFor(`${this.name} ${what}`, timeoutMs, async () => !this.isRunning || probe(), pauseMs);
    if (!this.isRunning) throw new Error(`${this.name} has ended:\n${this.logTail()}`);
  }

  /** SIGKILL, as in a crash or a power cut. Resolves when the process has ended. */
  async kill(): Promise<void> {
    this.child?.kill('SIGKILL');
    await this.ended;
  }

  /** SIGTERM, then SIGKILL after the timeout. Resolves when the process has ended. */
  async stop(timeoutMs = 20_000): Promise<void> {
    const child = this.child;
    child?.kill('SIGCONT');
    child?.kill('SIGTERM');
    const timer = setTimeout(() => child?.kill('SIGKILL'), timeoutMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** SIGKILL, and its directory goes with it. */
  async close(): Promise<void> {
    await this.kill();
    removeDirectory(this.directory);
  }

  /** SIGSTOP: connections stay open, connects are accepted by the system, nothing is answered. */
  async freeze(): Promise<void> {
    this.child?.kill('SIGSTOP');
    await waitFor(`${this.name} stands still`, 5000, () => this.standsStill(), 2);
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  /** The end of what it wrote. */
  logTail(): string {
    if (!existsSync(this.logFile)) return '';
    return readFileSync(this.logFile, 'utf8').split('\n').slice(-LAST_LINES).join('\n');
  }

  // The signal reaches the threads one after the other: one that still runs may answer one more request.
  private standsStill(): boolean {
    return threadsOf(this.pid).every(({ state }) => /[Tt]/.test(state));
  }
}
