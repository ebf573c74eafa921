import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { COMPILE_CACHE } from './compile-cache.js';
import type { Installation } from './installation.js';
import type { Environment } from './service-process.js';

const CLI = resolve(import.meta.dirname, '../../dist/cli/main.js');

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface CommandOptions {
  env?: Environment;
  /** what comes through the pipe on standard input */
  input?: string;
}

/** Runs the built command line on an installation, as an operator does in another terminal. */
export async function accounts(
  installation: Pick<Installation, 'directory' | 'env'>,
  parameters: readonly string[],
  { env = {}, input = '' }: CommandOptions = {},
): Promise<CommandResult> {
  const command = spawn(process.execPath, [CLI, ...parameters], {
    cwd: installation.directory,
    env: {
      PATH: process.env['PATH'],
      ...COMPILE_CACHE,
      ARGON2_MEMORY_KIB: '1024',
      ARGON2_TIME: '1',
      ...installation.env,
      ...env,
    },
  });
  command.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(command.stdout),
    text(command.stderr),
    once(command, 'close'),
  ]);
  return { code: code as number | null, stdout, stderr };
}

/** Its results with `--json`: it must have been done. */
export async function accountsJson<T>(
  installation: Pick<Installation, 'directory' | 'env'>,
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
  { directory, env }: Pick<Installation, 'directory' | 'env'>,
  parameters: readonly string[],
  afterMs: number,
): Promise<void> {
  const command = spawn(process.execPath, [CLI, ...parameters], {
    cwd: directory,
    env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...env },
    stdio: 'ignore',
    timeout: afterMs,
    killSignal: 'SIGKILL',
  });
  await once(command, 'close');
}

/** A command that runs until it is stopped, line by line. */
export function following(
  { directory, env }: Pick<Installation, 'directory' | 'env'>,
  parameters: readonly string[],
): { line: () => Promise<string>; stop: () => Promise<void> } {
  const command = spawn(process.execPath, [CLI, ...parameters], {
    cwd: directory,
    env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
