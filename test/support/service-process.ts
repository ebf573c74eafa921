import { spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll } from 'vitest';

const BUILT_SERVICE = resolve(import.meta.dirname, '../../dist/main.js');
// Only for what hangs: shorter than a test may take, longer than a busy machine needs.
const START_TIMEOUT_MS = 50_000;
const STOP_TIMEOUT_MS = 50_000;

/** `undefined` takes a variable away that the tests otherwise set. */
export type Environment = Record<string, string | undefined>;

export interface ServiceProcess {
  child: ChildProcess;
  /** where it says that it listens */
  url: Promise<string>;
  /** every line of both outputs, in order */
  logs: string[];
  stderr: string[];
  exited: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** A test that fails half-way leaves its services behind: none outlives its file. */
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** The built service as its own process, which inherits nothing of this one's environment but the PATH. */
export function spawnService(directory: string, env: Environment): ServiceProcess {
  return spawnCommand([process.execPath, BUILT_SERVICE], directory, env);
}

/** The same by another command, such as `npm start`. */
export function spawnCommand(
  [program, ...parameters]: [string, ...string[]],
  directory: string,
  env: Environment,
): ServiceProcess {
  const child = spawn(program, parameters, {
    cwd: directory,
    env: { PATH: process.env['PATH'], PORT: '0', ARGON2_MEMORY_KIB: '1024', ARGON2_TIME: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const logs: string[] = [];
  const stderr: string[] = [];
  const url = new Promise<string>((found) => {
    eachLine(child.stdout, (line) => {
      logs.push(line);
      const announced = /"url":"(https?:\/\/[^"]+)"/.exec(line)?.[1];
      if (announced !== undefined) found(announced);
    });
  });
  eachLine(child.stderr, (line) => {
    logs.push(line);
    stderr.push(line);
  });
  running.add(child);
  const exited = new Promise<number | null>((done) =>
    child.once('close', (code) => {
      running.delete(child);
      done(code);
    }),
  );
  return { child, url, logs, stderr, exited };
}

export async function untilListening(service: ServiceProcess, timeoutMs = START_TIMEOUT_MS): Promise<string> {
  const url = await within(timeoutMs, Promise.race([service.url, service.exited.then(() => undefined)]));
  if (url === undefined || url === 'late') {
    service.child.kill('SIGKILL');
    throw new Error(`The service did not start:\n${service.logs.join('\n')}`);
  }
  return url;
}

export async function exitCode(service: ServiceProcess): Promise<number | null> {
  const code = await within(STOP_TIMEOUT_MS, service.exited);
  if (code !== 'late') return code;
  service.child.kill('SIGKILL');
  throw new Error(
    `The service did not end within ${STOP_TIMEOUT_MS} ms:\n${service.logs.slice(-20).join('\n')}`,
  );
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((done) => {
    timer = setTimeout(() => done('late'), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function eachLine(stream: Readable, take: (line: string) => void): void {
  createInterface({ input: stream }).on('line', take);
}
