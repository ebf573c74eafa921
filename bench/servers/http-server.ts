import { performance } from 'node:perf_hooks';
import { ServerProcess } from '../../tooling/processes/server-process.ts';
import { withChildren } from '../../tooling/processes/usage.ts';
import { freePort } from '../../client/src/free-port.ts';

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
const PAUSE_MS = 10;

/** Starts the program and waits until it answers. */
export async function startHttpServer({ script, nodeOptions, env, directory }: Program): Promise<HttpServer> {
  const port = await freePort();
  const begun = performance.now();
  const server = new ServerProcess(script, directory);
  server.launch({
    program: process.execPath,
    args: [...nodeOptions, script],
    // Only what is named here: a .env file or a DATABASE_URL of the developer must not reach the benchmark.
    env: { PATH: process.env['PATH'] ?? '', ...env, HOST: '127.0.0.1', PORT: String(port) },
    cwd: directory,
    // Its warnings are part of the progress, not of the report.
    output: process.stderr.fd,
  });
  const url = `http://127.0.0.1:${port}`;
  const answers = async (): Promise<boolean> => {
    const response = await fetch(`${url}/api/me`);
    await response.body?.cancel();
    return true;
  };
  await server.waitUntil('answers', START_TIMEOUT_MS, answers, PAUSE_MS);
  return {
    url,
    pids: () => withChildren(server.pid!),
    startMs: performance.now() - begun,
    stop: () => server.stop(STOP_TIMEOUT_MS),
  };
}
