import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { networkInterfaces } from 'node:os';
import { readFileSync } from 'node:fs';
import { run } from './fresh-machine.js';
import { PROJECT } from './images.js';
import { type Answered, describeSent, KeepAliveClient, type Sent } from '../../support/keep-alive-client.js';
import { loadDuring } from '../../support/load.js';

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

const PORT = 8443;
const ANSWER_TIMEOUT_MS = 60_000;

/** A client that trusts the certificate of the setup and nothing else. */
export function tlsClient(localAddress: string): KeepAliveClient {
  return new KeepAliveClient(`https://${publishedAddress()}:${PORT}`, ANSWER_TIMEOUT_MS, {
    localAddress,
    servername: 'localhost',
    ca: readFileSync(join(PROJECT, 'secrets/tls.pem')),
  });
}

export interface Answer extends Omit<Answered, 'body'> {
  body: Record<string, unknown>;
}

/** Rejects where the connection ended without an answer. */
export async function answerOf(sending: Promise<Sent>): Promise<Answer> {
  const sent = await sending;
  if (sent.kind !== 'answered') throw new Error(describeSent(sent));
  return { ...sent, body: JSON.parse(sent.body) as Record<string, unknown> };
}

/** How many requests can be under way at once. */
export const IN_FLIGHT = 8;

const REQUESTS = [
  ['GET', '/api/me'],
  ['POST', '/api/auth/code'],
] as const;

/**
 * Reads and writes without a pause, each client on its own connection, until `event` is over.
 *
 * @returns what came of each request
 */
export async function underLoad(
  address: string,
  token: string,
  event: () => Promise<unknown>,
): Promise<string[]> {
  const clients = Array.from({ length: IN_FLIGHT }, () => tlsClient(address));
  const { entries } = await loadDuring(
    IN_FLIGHT,
    async (worker, turn) => {
      const [method, path] = REQUESTS[turn % REQUESTS.length]!;
      const sent = await clients[worker]!.send(method, path, { token });
      return {
        outcome: sent.kind === 'answered' ? 'ok' : 'unknown',
        label: `${method} ${describeSent(sent)}`,
      };
    },
    async () => void (await event()),
  );
  for (const client of clients) client.close();
  return entries.map(({ label }) => label);
}
