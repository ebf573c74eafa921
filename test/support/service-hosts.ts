import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import {
  COMPILE_CACHE,
  type Environment,
  environmentOf,
  onEachLine,
  ServiceProcess,
  spawnService,
} from './service-process.js';

const HOST = resolve(import.meta.dirname, 'service-host.mjs');
/** The host ends both outputs of a service with it, and the exit code. */
const END = 'end of the service: ';

/** Variables that hold for a whole process: those of Node itself, the workers, and listeners that no stop closes. */
const OF_A_PROCESS = /^(?:NODE_(?!ENV$)|WEB_CONCURRENCY$|METRICS_PORT$|OTEL_)/;

/** Nine tenths of a start are the loading of code, so services run one after another in processes that stay. */
export function runService(directory: string, env: Environment): ServiceProcess {
  if (Object.keys(env).some((name) => OF_A_PROCESS.test(name))) return spawnService(directory, env);
  const host = [...waiting].find(({ isConnected }) => isConnected) ?? new ServiceHost();
  return host.run(directory, environmentOf(env));
}

const waiting = new Set<ServiceHost>();

class ServiceHost {
  private readonly child: ChildProcess;
  private current: ServiceProcess | undefined;
  private endedOutputs = 0;

  constructor() {
    const env = { PATH: process.env['PATH'], ...COMPILE_CACHE };
    // A session of its own, like that of `spawnInto`.
    this.child = fork(HOST, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [], detached: true });
    onEachLine(this.child, (line, isError) => {
      if (line.startsWith(END)) this.endOutput(Number(line.slice(END.length)));
      else this.current?.takeLine(line, isError);
    });
    this.child.once('close', (code) => {
      waiting.delete(this);
      this.current?.end(code);
    });
  }

  get isConnected(): boolean {
    return this.child.connected;
  }

  run(directory: string, env: Environment): ServiceProcess {
    waiting.delete(this);
    this.endedOutputs = 0;
    this.current = new ServiceProcess(this.child);
    this.child.send({ directory, env, end: END });
    return this.current;
  }

  private endOutput(code: number): void {
    this.endedOutputs += 1;
    if (this.endedOutputs < 2) return;
    this.current?.end(code);
    waiting.add(this);
  }
}
