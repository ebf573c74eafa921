import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const DIST = resolve(import.meta.dirname, '../../dist');

export interface RunningAccounts {
  url: string;
  /** the secret of a new service */
  addService(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Accounts with a database and keys of its own, which are removed in the end. */
export async function startAccounts(): Promise<RunningAccounts> {
  const directory = await mkdtemp(join(tmpdir(), 'accounts-handoff-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { PATH } = process.env;
  // Nothing here is worth a costly hash, and a slow computer would answer the first registration too late.
  const cheapHashes = { ARGON2_MEMORY_KIB: '1024', ARGON2_TIME: '1' };
  const env = { PATH, HOST: '127.0.0.1', PORT: String(port), JWT_ISSUER: url, ...cheapHashes };
  const started = spawn(process.execPath, [join(DIST, 'main.js')], { cwd: directory, env, stdio: 'ignore' });
  const ended = once(started, 'exit');
  const close = async (): Promise<void> => {
    started.kill();
    await ended;
    await rm(directory, { recursive: true });
  };
  while (!(await isUp(url))) {
    if (started.exitCode !== null) throw new Error('Accounts did not start: run npm run build first.');
    await pause(100);
  }
  const addService = async (name: string): Promise<string> => {
    const allow = ['--allow', 'introspect,memberships,events', '--json'];
    const command = [join(DIST, 'cli/main.js'), 'services', 'add', name, ...allow];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: directory, env });
    return (JSON.parse(stdout) as { secret: string }).secret;
  };
  return { url, addService, close };
}

async function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
