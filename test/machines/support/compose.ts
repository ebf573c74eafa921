import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../../tooling/wait.js';
import { run } from './fresh-machine.js';
import { PROJECT } from './images.js';
import { type Answered, describeSent, KeepAliveClient, type Sent } from '../../support/keep-alive-client.js';
import { loadDuring } from '../../support/load.js';
import { AuthenticatorApp } from '../../support/second-factor.js';

const START_TIMEOUT_MS = 900_000;
const COMMAND_TIMEOUT_MS = 300_000;

/** A block of commands of the quick start, with the output below it. */
interface Step {
  commands: string;
  shown: string;
}

function quickStart(): Step[] {
  const page = readFileSync(join(PROJECT, 'docs/quickstart-operator.md'), 'utf8');
  const blocks = page.matchAll(/^```sh\n(.*?)^```$(?:\n\n```\n(.*?)\n```$)?/gms);
  return Array.from(blocks, ([, commands, shown = '']) => ({ commands: commands!, shown }));
}

/** Runs the commands of the quick start word for word, up to the first operator: the last block asks on a terminal. */
export async function followQuickStart(): Promise<(Step & { printed: string })[]> {
  const results: (Step & { printed: string })[] = [];
  for (const step of quickStart().slice(0, -1)) {
    const printed = await inProject('sh', ['-euc', step.commands], START_TIMEOUT_MS);
    results.push({ ...step, printed });
  }
  return results;
}

/** Runs the last block of the quick start on a pseudo-terminal, with the code of an authenticator app. */
export async function createFirstOperator(): Promise<Step & { printed: string }> {
  const step = quickStart().at(-1)!;
  const onAWideTerminal = `stty columns 100; ${step.commands}`;
  const script = spawn('script', ['--quiet', '--return', '--command', onAWideTerminal, '/dev/null'], {
    cwd: PROJECT,
    stdio: 'pipe',
  });
  let printed = '';
  script.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await waitFor('the question', COMMAND_TIMEOUT_MS, () => printed.includes('app shows: '));
  const [, secret] = /[?&]secret=([A-Z2-7]{32})&/.exec(printed)!;
  script.stdin.write(`${new AuthenticatorApp(secret!).next()}\r`);
  const [code] = (await once(script, 'close')) as [number];
  if (code !== 0) throw new Error(printed);
  return { ...step, printed: printed.replaceAll('\r', '') };
}

export function compose(...args: string[]): Promise<string> {
  return inProject('docker', ['compose', ...args], COMMAND_TIMEOUT_MS);
}

/** The id of the container of a service. */
export function containerOf(service: string): Promise<string> {
  return compose('ps', '--all', '--quiet', service);
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
