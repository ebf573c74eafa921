import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../free-port.ts';
import { pause } from '../waiting.ts';

/** Only against hanging. */
export const LIMIT_MS = 20_000;
const STOPS_WITHIN_MS = 3_000;
const SHOWN_CHARACTERS = 500;
const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach(killGroup));

/** Its children are in its process group, so nothing of it is left behind. */
function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // The group is gone.
  }
}

/** The program that is tested: one process at a time, which listens on a port of its own. */
export class Tested {
  readonly port: number;
  private readonly command: readonly string[];
  private readonly env: NodeJS.ProcessEnv;
  private child: ChildProcess | undefined;
  private printed = '';

  private constructor(command: readonly string[], port: number, env: NodeJS.ProcessEnv) {
    this.command = command;
    this.port = port;
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GUARD_'));
    this.env = { ...Object.fromEntries(inherited), ...env, GUARD_LISTEN: `127.0.0.1:${port}` };
  }

  static async of(command: readonly string[], env: NodeJS.ProcessEnv): Promise<Tested> {
    return new Tested(command, await freePort(), env);
  }

  /** @throws Error if the program ends, or does not do it in time */
  async start(isReady: () => Promise<boolean>): Promise<void> {
    const [program, ...args] = this.command;
    const child = spawn(program!, args, { env: this.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    running.add(child);
    let failure: Error | undefined;
    child.on('error', (error) => (failure = error));
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => this.keep(data));
    const deadline = performance.now() + LIMIT_MS;
    while (!(await isReady())) {
      if (failure) throw new Error(`COMMAND cannot be started: ${failure.message}`);
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`COMMAND ended with ${child.exitCode ?? child.signalCode}: ${this.printed.trim()}`);
      if (performance.now() > deadline)
        throw new Error(`COMMAND was not ready within ${LIMIT_MS / 1000} s: ${this.printed.trim()}`);
      await pause(50, undefined);
    }
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined) return;
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => killGroup(child), STOPS_WITHIN_MS);
    await ended;
    clearTimeout(timer);
    killGroup(child);
    running.delete(child);
  }

  private keep(data: Buffer): void {
    this.printed = (this.printed + data.toString()).slice(-SHOWN_CHARACTERS);
  }
}
