import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { CHEAP_HASHES, COMPILE_CACHE, type Environment, RECORDING } from './service-process.js';
import { inspect } from '../../src/cli/doctor/doctor.js';
import { parseEnv } from '../../src/config/env.js';
import type { Installation } from './installation.js';

export const BY_ROOT = ['--as', 'root', '--reason', 'a test'];

export const CLI = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** The result of a command that does nothing: 1 is rejected by a rule, 2 could not run. */
export const failure = (code: 1 | 2, stderr: string | RegExp): object => ({
  code,
  stdout: '',
  stderr: typeof stderr === 'string' ? stderr : (expect.stringMatching(stderr) as unknown),
});

interface CommandOptions {
  env?: Environment;
  /** what comes through the pipe on standard input */
  input?: string;
}

export type Place = Pick<Installation, 'directory'> & { env: Environment };

const PATH = process.env['PATH'];

export function environmentOf(env: Environment): Environment {
  return { PATH, ACCOUNTS_REASON: 'a test', ...CHEAP_HASHES, ...env };
}

/** A process of its own, as operators start it. */
export function spawnAccounts({ directory, env }: Place, parameters: readonly string[], timeout = 0) {
  return spawn(process.execPath, [...RECORDING, CLI, ...parameters], {
    cwd: directory,
    env: { ...COMPILE_CACHE, ...environmentOf(env) },
    timeout,
    killSignal: 'SIGKILL',
  });
}

interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
}

export async function accountsAlone(
  { directory, env: ofInstallation }: Place,
  parameters: readonly string[],
  { env = {}, input = '' }: CommandOptions = {},
): Promise<Result> {
  const command = spawnAccounts({ directory, env: { ...ofInstallation, ...env } }, parameters);
  command.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(command.stdout),
    text(command.stderr),
    once(command, 'close'),
  ]);
  return { code: code as number | null, stdout, stderr };
}

const HOST = resolve(import.meta.dirname, 'command-host.mjs');

/** Processes that wait for their next command: a start takes several times as long as most commands. */
const waiting: ChildProcess[] = [];

/** @param env what Node itself reads, such as NODE_OPTIONS */
export function startCommandHost(env: Environment = {}): ChildProcess {
  const host = fork(HOST, { env: { PATH, ...COMPILE_CACHE, ...env }, execArgv: [] });
  host.unref();
  host.channel?.unref();
  return host;
}

/** Runs a command in a process that has run others, unless the environment has options of Node itself. */
export async function accounts(
  place: Place,
  parameters: readonly string[],
  options?: CommandOptions,
): Promise<Result> {
  if ('NODE_OPTIONS' in { ...place.env, ...options?.env }) return accountsAlone(place, parameters, options);
  const host = waiting.pop() ?? startCommandHost();
  const result = await accountsIn(host, place, parameters, options);
  waiting.push(host);
  return result;
}

export async function accountsIn(
  host: ChildProcess,
  { directory, env: ofInstallation }: Place,
  parameters: readonly string[],
  { env = {}, input = '' }: CommandOptions = {},
): Promise<Result> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(host, 'exit', { signal }).then(([code]) => {
    throw new Error(`accounts ${parameters.join(' ')} ended its process with ${code}`);
  });
  host.send({ parameters, directory, input, env: environmentOf({ ...ofInstallation, ...env }) });
  const [finished] = (await Promise.race([once(host, 'message', { signal }), ended])) as [Result];
  over.abort();
  return finished;
}

export async function accountsJson<T>(
  installation: Place,
  parameters: readonly string[],
  options?: CommandOptions,
): Promise<T[]> {
  const { code, stdout, stderr } = await accounts(installation, [...parameters, '--json'], options);
  if (code !== 0) throw new Error(`accounts ${parameters.join(' ')} ended with ${code}: ${stderr}`);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Runs a command and ends it with SIGKILL after so long, if it has not ended by itself. */
export async function killedDuring(
  installation: Place,
  parameters: readonly string[],
  afterMs: number,
): Promise<void> {
  const command = spawnAccounts(installation, parameters, afterMs);
  for (const output of [command.stdout, command.stderr]) output.resume();
  await once(command, 'close');
}

export function following(
  installation: Place,
  parameters: readonly string[],
): { line: () => Promise<string>; stop: () => Promise<void> } {
  const command = spawnAccounts(installation, parameters);
  command.stderr.pipe(process.stderr);
  const lines = createInterface({ input: command.stdout })[Symbol.asyncIterator]();
  return {
    line: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`accounts ${parameters.join(' ')} has ended`);
      return value;
    },
    stop: async () => {
      const closed = once(command, 'close');
      command.kill('SIGTERM');
      await closed;
    },
  };
}

/** The claims that the doctor's checks find untrue, run in this process: of dozens, each process would cost the most. */
export async function untrueClaims({ env }: Pick<Installation, 'env'>): Promise<string[]> {
  const findings = await inspect(parseEnv(env));
  return findings.filter(({ faults }) => faults.length > 0).map(({ check }) => check.claim);
}

export async function examine(installation: Place, env: Environment = {}) {
  const { code, stdout, stderr } = await accounts(installation, ['doctor'], { env });
  return { code, lines: stdout.trim().split('\n'), errors: stderr };
}
