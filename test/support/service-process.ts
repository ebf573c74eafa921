import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { YOUNG_GENERATION } from '../../tooling/start-options.js';
import { hangTimeoutMs, within } from '../../tooling/wait.js';
import type { Installation } from './installation.js';

const HERE = import.meta.dirname;
const END_WITH_PARENT = ['--import', resolve(HERE, 'end-with-parent.mjs')] as const;
/** Node as `npm start` runs it, in a process that ends with the tests. */
export const NODE_OF_SERVICE = [process.execPath, YOUNG_GENERATION, ...END_WITH_PARENT] as const;
/** Options of Node for a process whose statements the tests compare with the list. */
export const RECORDING = ['--import', resolve(HERE, 'record-statements.ts')] as const;
const COMMAND = [...NODE_OF_SERVICE, ...RECORDING] as const;
export const BUILT_SERVICE = [...COMMAND, resolve(HERE, '../../dist/main.js')] as const;
const LAST_LINES = 20;

/** The tests log in thousands of times. */
export const CHEAP_HASHES = { ARGON2_MEMORY_KIB: '1024', ARGON2_TIME: '1' };

/** `undefined` takes a variable away that the tests otherwise set. */
export type Environment = Record<string, string | undefined>;

const running = new Set<ServiceProcess>();

export function killRunningServices(): void {
  for (const service of running) service.kill('SIGKILL');
}

/** One run of the service: in a process of its own, or in one that stays for others. */
export class ServiceProcess {
  readonly logs: string[] = [];
  readonly stderr: string[] = [];
  private readonly announced = Promise.withResolvers<string>();
  private readonly ended = Promise.withResolvers<number | null>();
  readonly url = this.announced.promise;
  readonly exited = this.ended.promise;

  constructor(readonly child: ChildProcess) {
    running.add(this);
  }

  takeLine(line: string, isError: boolean): void {
    this.logs.push(line);
    if (isError) this.stderr.push(line);
    const url = announcedUrl(line);
    if (url !== undefined) this.announced.resolve(url);
  }

  end(code: number | null): void {
    running.delete(this);
    this.ended.resolve(code);
  }

  kill(signal: NodeJS.Signals): void {
    if (running.has(this)) this.child.kill(signal);
  }
}

/** The built service as its own process, which inherits nothing of this one's environment but the PATH. */
export function spawnService(directory: string, env: Environment): ServiceProcess {
  return spawnCommand(BUILT_SERVICE, directory, { ...COMPILE_CACHE, ...env });
}

export function spawnCommand(
  command: readonly [string, ...string[]],
  directory: string,
  env: Environment,
): ServiceProcess {
  const child = spawnInto('pipe', command, directory, env);
  const service = new ServiceProcess(child);
  onEachLine(child, (line, isError) => service.takeLine(line, isError));
  child.once('close', (code) => service.end(code));
  return service;
}

export function onEachLine({ stdout, stderr }: ChildProcess, take: ServiceProcess['takeLine']): void {
  createInterface({ input: stdout! }).on('line', (line) => take(line, false));
  createInterface({ input: stderr! }).on('line', (line) => take(line, true));
}

/**
 * A session of its own, as in production: its hashing threads yield to the rest of their session, which would
 * otherwise be the tests.
 */
export function spawnInto(
  output: 'pipe' | number,
  [program, ...parameters]: readonly [string, ...string[]],
  directory: string,
  env: Environment,
): ChildProcess {
  return spawn(program, parameters, {
    cwd: directory,
    env: environmentOf(env),
    stdio: ['pipe', output, output],
    detached: true,
  });
}

export function environmentOf(env: Environment): Environment {
  return { PATH: process.env['PATH'], PORT: '0', ...CHEAP_HASHES, ...env };
}

export function announcedUrl(log: string): string | undefined {
  return /"url":"(https?:\/\/[^"]+)"/.exec(log)?.[1];
}

export function listeningPids(logs: readonly string[]): number[] {
  return logs.flatMap((line) => {
    const pid = line.includes('"msg":"listening"') ? /"pid":(\d+)/.exec(line)?.[1] : undefined;
    return pid === undefined ? [] : [Number(pid)];
  });
}

export async function untilListening(service: ServiceProcess, timeoutMs = hangTimeoutMs()): Promise<string> {
  const ended = service.exited.then((code) => {
    throw new Error(`The service did not start, it ended with ${code}`);
  });
  return explained(service, within('the service listens', timeoutMs, Promise.race([service.url, ended])));
}

export async function exitCode(service: ServiceProcess): Promise<number | null> {
  return explained(service, within('the service ends', hangTimeoutMs(), service.exited));
}

/** A failure ends the process and shows its last output. */
async function explained<T>(service: ServiceProcess, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    service.kill('SIGKILL');
    throw new Error([String(error), ...service.logs.slice(-LAST_LINES)].join('\n'), { cause: error });
  }
}

/**
 * For the environment of the built service and its command line, which the tests start hundreds of times: Node keeps
 * their compiled code there, and compiles again what has changed.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../node_modules/.cache/compiled'),
};

const SCRIPT = `
  import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  delete crypto.randomUUIDv7;
  syncBuiltinESMExports();
`;

/** For NODE_OPTIONS: takes away what a Node before 24.16 lacks. */
export const AS_AN_OLD_NODE = `--import=data:text/javascript,${encodeURIComponent(SCRIPT)}`;

/** The service before it was bundled, as a process in which these packages cannot be loaded. */
export function spawnWithout(
  packages: readonly string[],
  { directory, env: location }: Installation,
  env: Environment,
): ServiceProcess {
  const hook = pathToFileURL(resolve(import.meta.dirname, 'refuse-packages.mjs'));
  for (const name of packages) hook.searchParams.append('package', name);
  const command = [...COMMAND, '--import', hook.href, resolve(HERE, '../../build/main.js')] as const;
  return spawnCommand(command, directory, {
    ...COMPILE_CACHE,
    ...location,
    ...env,
  });
}
