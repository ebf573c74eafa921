import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { ServerProcess } from '../../../tooling/processes/server-process.js';
import { freePort } from '../../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import type { Installation } from '../../support/installation.js';
import {
  COMPILE_CACHE,
  type Environment,
  exitCode,
  NODE_OF_SERVICE,
  type ServiceProcess,
  spawnCommand,
  untilListening,
} from '../../support/service-process.js';

const ROOT = resolve(import.meta.dirname, '../../..');

/** A version of Accounts, and what only this version needs to be told. */
export interface Build {
  name: string;
  directory: string;
  env: Environment;
}

export const present: Build = {
  name: 'this version',
  directory: ROOT,
  // By default, only with a mail server.
  env: { NEW_SIGN_IN_NOTICE: 'on' },
};

/** One place in a deployment: one build after another on the same port. */
export class Seat {
  readonly logs: string[] = [];
  private running: ServiceProcess | undefined;

  private constructor(
    private readonly installation: Installation,
    readonly port: number,
    private readonly env: Environment,
  ) {}

  static async at(installation: Installation, env: Environment = {}): Promise<Seat> {
    return new Seat(installation, await freePort(), env);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start({ directory, env }: Build): Promise<void> {
    const command = [...NODE_OF_SERVICE, join(directory, 'dist/main.js')] as const;
    const all = { ...COMPILE_CACHE, ...this.installation.env, ...this.env, ...env, PORT: String(this.port) };
    this.running = spawnCommand(command, this.installation.directory, all);
    await untilListening(this.running);
  }

  /** @throws Error if it does not end by itself, and well */
  async stop(): Promise<void> {
    const { running } = this;
    if (!running) return;
    this.running = undefined;
    running.child.kill('SIGTERM');
    const code = await exitCode(running);
    this.logs.push(...running.logs);
    if (code !== 0) throw new Error(`ended with ${code}:\n${running.logs.slice(-20).join('\n')}`);
  }

  freeze(): void {
    this.running?.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.running?.child.kill('SIGCONT');
  }

  get isAsked(): boolean {
    return this.running?.logs.some((line) => line.includes('"msg":"request"')) ?? false;
  }

  close(): Promise<void> {
    return this.stop();
  }
}

const NAMES = ['one', 'two', 'three'];

/** HAProxy with deploy/haproxy.cfg, without TLS and with its runtime API, in front of three places. */
export class Balancer extends ServerProcess {
  private constructor(
    readonly url: string,
    private readonly seats: readonly Pick<Seat, 'port'>[],
  ) {
    super('haproxy', temporaryDirectory('haproxy'));
  }

  static async before(seats: readonly Pick<Seat, 'port'>[]): Promise<Balancer> {
    const port = await freePort();
    const balancer = new Balancer(`http://127.0.0.1:${port}`, seats);
    balancer.launch({ program: requireProgram('haproxy'), args: ['-db', '-f', balancer.configure(port)] });
    await balancer.waitUntil('answers', hangTimeoutMs(), async () => {
      return (await fetch(`${balancer.url}/health/ready`)).ok;
    });
    return balancer;
  }

  /** As docs/operate.md tells: takes the instance out, waits until it has answered, and replaces it. */
  async replace(seat: Seat, build: Build): Promise<void> {
    const name = NAMES[this.seats.indexOf(seat)]!;
    await this.command(`set server accounts/${name} state drain`);
    await this.waitUntil('waits for no answer', hangTimeoutMs(), async () => {
      const stat = await this.command('show stat');
      return stat.split('\n').some((line) => line.startsWith(`accounts,${name},0,0,0,`));
    });
    await seat.stop();
    await seat.start(build);
    await this.command(`set server accounts/${name} state ready`);
    await waitFor('the new instance gets requests', hangTimeoutMs(), () => seat.isAsked);
  }

  /** Numbers of the places that get requests. */
  async inRotation(): Promise<number[]> {
    const stat = await this.command('show stat');
    const states = [...stat.matchAll(/^accounts,(\w+),(?:[^,]*,){15}UP/gm)];
    return states.map(([, name]) => NAMES.indexOf(name!)).filter((index) => index >= 0);
  }

  private configure(port: number): string {
    let text = readFileSync(join(ROOT, 'deploy/haproxy.cfg'), 'utf8');
    const replace = (place: RegExp, by: string): void => {
      if (!place.test(text)) throw new Error(`deploy/haproxy.cfg has no ${String(place)}`);
      text = text.replace(place, by);
    };
    replace(/^global$/m, `global\n  stats socket ${this.socket} level admin`);
    replace(/bind :8443 .*/, `bind 127.0.0.1:${port}`);
    for (const [index, name] of NAMES.entries())
      replace(new RegExp(`server ${name} \\S+`), `server ${name} 127.0.0.1:${this.seats[index]!.port}`);
    const file = join(this.directory, 'haproxy.cfg');
    writeFileSync(file, text);
    return file;
  }

  private get socket(): string {
    return join(this.directory, 'admin.sock');
  }

  private async command(command: string): Promise<string> {
    const socket = connect(this.socket);
    socket.end(`${command}\n`);
    return await readText(socket);
  }
}
