/** The thread of a FaultProxy: the bytes do not wait for what the test does meanwhile. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * - `pass`: bytes go both ways.
 * - `refuse`: nobody listens; present connections are reset.
 * - `drop`: connects succeed, no byte arrives anywhere, nothing is closed: a network that lost its packets.
 * - `ignore`: logins succeed, statements go nowhere: a server that has hung.
 * - `delay`: every chunk is late by `delayMs`, in each direction.
 */
type Mode = 'pass' | 'refuse' | 'drop' | 'ignore' | 'delay';

export type ProxyPorts = { port: number; targetPort: number };
export type ProxyCommand = { id: number; action: Mode | 'cut' | 'count'; delayMs: number };
export type ProxyReply = { id: number; bytes: number };

/** The fourth byte of a packet is its number, which starts over with each statement and continues in a login. */
const PACKET_NUMBER_AT = 3;

const { port, targetPort } = workerData as ProxyPorts;
const sockets = new Set<Socket>();
let listener: Server | undefined;
let mode: Mode = 'pass';
let delayMs = 0;
let bytes = 0;

async function carryOut(command: ProxyCommand): Promise<void> {
  const { action } = command;
  if (action === 'delay') delayMs = command.delayMs;
  if (action === 'cut') cut();
  else if (action === 'refuse') await refuse();
  else if (action !== 'count') await switchTo(action);
  parentPort!.postMessage({ id: command.id, bytes } satisfies ProxyReply);
}

async function switchTo(next: Exclude<Mode, 'refuse'>): Promise<void> {
  mode = next;
  for (const socket of sockets) {
    if (mode === 'drop') socket.pause();
    else socket.resume();
  }
  await listen();
  if (mode === 'ignore') cut();
}

async function refuse(): Promise<void> {
  mode = 'refuse';
  const open = listener;
  listener = undefined;
  const closed = new Promise<unknown>((resolve) => (open ? open.close(resolve) : resolve(undefined)));
  cut();
  await closed;
}

function cut(): void {
  for (const socket of sockets) socket.resetAndDestroy();
}

async function listen(): Promise<void> {
  if (listener) return;
  const opened = createServer({ allowHalfOpen: true, pauseOnConnect: true }, accept);
  listener = opened;
  await new Promise<void>((resolve, reject) => {
    opened.once('error', reject);
    opened.listen(port, '127.0.0.1', resolve);
  });
}

function accept(client: Socket): void {
  const server = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
  client.on('data', (chunk) => (bytes += chunk.length));
  join(client, server, (chunk) => mode !== 'ignore' || chunk[PACKET_NUMBER_AT] !== 0);
  join(server, client);
  if (mode === 'drop') server.pause();
  else client.resume();
}

function join(from: Socket, to: Socket, arrives = (_chunk: Buffer): boolean => true): void {
  sockets.add(from);
  from.setNoDelay(true);
  from.on('data', (chunk: Buffer) => {
    if (arrives(chunk)) forward(() => to.writable && to.write(chunk));
  });
  from.on('end', () => forward(() => to.end()));
  from.on('error', () => to.resetAndDestroy());
  from.on('close', () => {
    sockets.delete(from);
    forward(() => to.end());
  });
}

function forward(action: () => void): void {
  if (mode === 'delay') setTimeout(action, delayMs).unref();
  else action();
}

parentPort!.on('message', (command: ProxyCommand) => void carryOut(command));
