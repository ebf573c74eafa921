import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { networkInterfaces } from 'node:os';
import { run } from './command.js';
import { PROJECT } from './images.js';

const START_TIMEOUT_MS = 900_000;
const COMMAND_TIMEOUT_MS = 300_000;

/** The commands that the head of compose.yaml gives, down to the one that starts it, as they stand there. */
export async function startAsDocumented(): Promise<void> {
  const text = await readFile(join(PROJECT, 'compose.yaml'), 'utf8');
  const commands = [...text.matchAll(/^# {3}(.+)$/gm)].map(([, command]) => command!);
  const last = commands.indexOf('docker compose up -d');
  if (last === -1) throw new Error('compose.yaml does not say how to start it');
  const script = commands.slice(0, last + 1).join('\n');
  await inProject(
    'sh',
    ['-e', '-c', script.replaceAll('docker compose', 'docker-compose')],
    START_TIMEOUT_MS,
  );
}

export function compose(...args: string[]): Promise<string> {
  return inProject('docker-compose', args, COMMAND_TIMEOUT_MS);
}

/** The id of the container of a service. */
export function containerOf(service: string): Promise<string> {
  return compose('ps', '--quiet', service);
}

/** Where a published port is reached other than over loopback, which Docker passes on from its own address. */
export function publishedAddress(): string {
  const address = networkInterfaces()['tap0']?.find(({ family }) => family === 'IPv4')?.address;
  if (address === undefined) throw new Error('this machine has no network');
  return address;
}

/** Gives this machine one more address, to be a client from. */
export async function addAddress(address: string): Promise<void> {
  await run('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
}

function inProject(program: string, args: string[], timeoutMs: number): Promise<string> {
  return run('env', ['--chdir', PROJECT, program, ...args], timeoutMs);
}
