import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { killAtExit } from './kill-at-exit.ts';
import { withChildren } from './process-usage.ts';

/** A program of Node that listens on `PORT`. */
export interface Program {
  script: string;
  nodeOptions: readonly string[];
  env: Record<string, string>;
  /** where it runs */
  directory: string;
}

export interface HttpServer {
  url: string;
  /** of the process and its workers */
  pids: () => number[];
  /** from the start of the process to its first answer */
  startMs: number;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 12_000;

/** Starts the program and waits until it answers. */
export async function startHttpServer({ script, nodeOptions, env, directory }: Program): Promise<HttpServer> {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, script], {
    // Only what is named here: a .env file or a DATABASE_URL of the developer must not reach the benchmark.
    env: { PATH: process.env['PATH'] ?? '', ...env, HOST: '127.0.0.1', PORT: String(port) },
    cwd: directory,
    // Its warnings are part of the progress, not of the report.
    stdio: ['ignore', 2, 2],
  });
  killAtExit(child);
  const url = `http://127.0.0.1:${port}`;
  await firstAnswer(child, url, script);
  return {
    url,
    pids: () => withChildren(child.pid!),
    startMs: performance.now() - begun,
    stop: () => stop(child),
  };
}

async function firstAnswer(child: ChildProcess, url: string, script: string): Promise<void> {
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await sleep(10)) {
    if (child.exitCode !== null) throw new Error(`${script} ended with code ${child.exitCode}`);
    const response = await fetch(`${url}/api/me`).catch(() => undefined);
    await response?.body?.cancel();
    if (response) return;
  }
  throw new Error(`${script} did not answer in time`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(timer);
}
