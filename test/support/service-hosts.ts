import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import {
  announcedUrl,
  COMPILE_CACHE,
  type Environment,
  environmentOf,
  type ServiceProcess,
  spawnService,
} from './service-process.js';

const HOST = resolve(import.meta.dirname, 'service-host.mjs');
/** The host ends both outputs of a service with it, and the exit code. */
const END = 'end of the service: ';

/** They are of a process from its start to its end: Node's own, the workers, and listeners that no stop closes. */
const OF_A_PROCESS = /^(?:NODE_(?!ENV$)|WEB_CONCURRENCY$|METRICS_PORT$|OTEL_)/;

/** Nine tenths of a start are the loading of code, so services run one after another in processes that stay. */
export function runService(directory: string, env: Environment): ServiceProcess {
  if (Object.keys(env).some((name) => OF_A_PROCESS.test(name))) return spawnService(directory, env);
  const [host = new ServiceHost()] = waiting;
  return host.run(directory, environmentOf(env));
}

const waiting = new Set<ServiceHost>();
const busy = new Set<ServiceHost>();

export function endBusyHosts(): void {
  for (const host of busy) host.kill('SIGKILL');
}

interface Run {
  takeLine(line: string, isError: boolean): void;
  end(code: number | null): void;
}

class ServiceHost {
  private readonly child: ChildProcess;
  private current: Run | undefined;

  constructor() {
    const env = { PATH: process.env['PATH'], ...COMPILE_CACHE };
    // A session of its own, like that of `spawnInto`.
    this.child = fork(HOST, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [], detached: true });
    const { stdout, stderr } = this.child;
    createInterface({ input: stdout! }).on('line', (line) => this.current?.takeLine(line, false));
    createInterface({ input: stderr! }).on('line', (line) => this.current?.takeLine(line, true));
    this.child.once('close', (code) => {
      waiting.delete(this);
      this.current?.end(code);
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  run(directory: string, env: Environment): ServiceProcess {
    const logs: string[] = [];
    const stderr: string[] = [];
    const url = Promise.withResolvers<string>();
    const exited = Promise.withResolvers<number | null>();
    let endedOutputs = 0;
    const end = (code: number | null): void => {
      this.current = undefined;
      busy.delete(this);
      exited.resolve(code);
    };
    const takeLine = (line: string, isError: boolean): void => {
      if (line.startsWith(END)) {
        endedOutputs += 1;
        if (endedOutputs < 2) return;
        end(Number(line.slice(END.length)));
        waiting.add(this);
        return;
      }
      logs.push(line);
      if (isError) stderr.push(line);
      const announced = announcedUrl(line);
      if (announced !== undefined) url.resolve(announced);
    };
    const current = { takeLine, end };
    this.current = current;
    waiting.delete(this);
    busy.add(this);
    this.child.send({ directory, env, end: END });
    const kill = (signal: NodeJS.Signals): void => {
      if (this.current === current) this.kill(signal);
    };
    return { child: this.child, url: url.promise, logs, stderr, exited: exited.promise, kill };
  }
}
