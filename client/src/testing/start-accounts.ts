import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ServiceScope } from '../api.gen.ts';
import type { Credentials } from '../credentials.ts';
import { freePort } from '../free-port.ts';
import { requireKnown } from '../known-members.ts';

const START_TIMEOUT_MS = 60_000;
const POLL_PAUSE_MS = 100;
/** A test needs no costly hash, and logs in more often than people do. */
const FOR_TESTS = {
  ARGON2_MEMORY_KIB: '1024',
  ARGON2_TIME: '1',
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
};

const SCOPES = Object.keys({
  introspect: true,
  memberships: true,
  events: true,
  directory: true,
  'directory:all': true,
  keys: true,
} satisfies Record<ServiceScope, true>) as ServiceScope[];

export interface StartOptions {
  /** A built checkout of Accounts (`npm ci && npm run build`); by default the variable `ACCOUNTS_DIR`. */
  directory?: string | undefined;
  /** Further environment variables of Accounts. */
  env?: Readonly<Record<string, string>> | undefined;
}
const OPTIONS: readonly string[] = ['directory', 'env'] satisfies (keyof StartOptions)[];

export interface RunningAccounts {
  /** Base URL, and `JWT_ISSUER`. */
  url: string;
  /** Adds a service with the given scopes, by default all, and returns its credentials. */
  addService(name: string, scopes?: readonly ServiceScope[]): Promise<Credentials & { secret: string }>;
  /** Allows a service to call another one, for itself and for users. */
  allowCall(name: string, to: string): Promise<void>;
  /** Stops Accounts and deletes its database and keys. */
  close(): Promise<void>;
}

/**
 * Starts Accounts with a SQLite database and keys of its own.
 *
 * @throws Error if the directory is not a built checkout, or Accounts does not start
 */
export async function startAccounts(options: StartOptions = {}): Promise<RunningAccounts> {
  requireKnown('startAccounts does', options, OPTIONS);
  const checkout = checkoutOf(options);
  const node = join(checkout, 'node_modules/.bin/node');
  const program = existsSync(node) ? node : process.execPath;
  const cwd = await mkdtemp(join(tmpdir(), 'accounts-testing-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { PATH = '' } = process.env;
  const env = { PATH, HOST: '127.0.0.1', PORT: `${port}`, JWT_ISSUER: url, ...FOR_TESTS, ...options.env };
  const settings = { cwd, env };
  const started = spawn(program, [join(checkout, 'dist/main.js')], { ...settings, stdio: 'ignore' });
  const close = async (): Promise<void> => {
    process.off('exit', kill);
    await stop(started);
    await rm(cwd, { recursive: true, force: true });
  };
  const kill = (): void => void started.kill();
  process.once('exit', kill);
  if (!(await isReady(url, started))) {
    await close();
    throw new Error(`Accounts in ${checkout} did not start: run npm start there to see why`);
  }
  const services = async (...command: string[]): Promise<string> => {
    const file = join(checkout, 'dist/cli/main.js');
    const flags = ['--reason', 'tests', '--json'];
    return (await promisify(execFile)(program, [file, 'services', ...command, ...flags], settings)).stdout;
  };
  const addService: RunningAccounts['addService'] = async (name, scopes = SCOPES) => {
    const stdout = await services('add', name, '--allow', scopes.join());
    return { name, secret: (JSON.parse(stdout) as { secret: string }).secret };
  };
  const allowCall: RunningAccounts['allowCall'] = async (name, to) => {
    await services('call', name, '--to', to);
  };
  return { url, addService, allowCall, close };
}

function checkoutOf({ directory = process.env['ACCOUNTS_DIR'] }: StartOptions): string {
  if (directory === undefined || directory === '')
    throw new Error('startAccounts needs a checkout of Accounts: pass directory, or set ACCOUNTS_DIR');
  const checkout = resolve(directory);
  if (!existsSync(join(checkout, 'dist/main.js')))
    throw new Error(`${checkout} is not a built checkout of Accounts: run npm ci && npm run build there`);
  return checkout;
}

async function isReady(url: string, started: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (started.exitCode === null && Date.now() < deadline) {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (answer?.ok) return true;
    await pause(POLL_PAUSE_MS);
  }
  return false;
}

async function stop(started: ChildProcess): Promise<void> {
  if (started.exitCode !== null || started.signalCode !== null) return;
  const ended = once(started, 'exit');
  started.kill();
  await ended;
}
