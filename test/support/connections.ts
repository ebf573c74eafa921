import { connect, type Socket } from 'node:net';
import { hangTimeoutMs, within } from '../../tooling/wait.js';
import { type Answer, checkAnswer, parseJson } from './answer.js';
import type { Service } from './service.js';
import type { Account } from './personas.js';

export interface OpenConnection {
  socket: Socket;
  text: () => string;
  statuses: () => number[];
  /** resolves with everything once the connection is closed, however it ended */
  closed: Promise<string>;
}

/** @throws the error of the connection attempt, such as ECONNREFUSED */
export function openConnection(url: string): Promise<OpenConnection> {
  const { port, hostname } = new URL(url);
  return new Promise((opened, failed) => {
    const chunks: Buffer[] = [];
    const text = (): string => Buffer.concat(chunks).toString();
    const socket = connect(Number(port), hostname);
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.once('error', failed);
    const closed = new Promise<string>((done) => socket.once('close', () => done(text())));
    const statuses = (): number[] =>
      [...text().matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status));
    socket.once('connect', () => opened({ socket, text, statuses, closed }));
  });
}

/** A request that leaves the connection open for the next one. */
export function keptAliveRequest(requestLine: string, headerLines: string[] = [], body = ''): string {
  return [`${requestLine} HTTP/1.1`, 'Host: localhost', ...headerLines, '', body].join('\r\n');
}

export function jsonRequest(requestLine: string, body: object, headerLines: string[] = []): string {
  const json = JSON.stringify(body);
  const head = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(json)}`];
  return keptAliveRequest(requestLine, [...head, ...headerLines], json);
}

/**
 * Sends bytes as they are, for requests that no HTTP library would make, and reads the first answer until the
 * service closes the connection. undefined when it closes without a word.
 */
export async function sendBytes(service: Service, bytes: string | Buffer): Promise<Answer | undefined> {
  const text = await exchangeBytes(service.url, bytes);
  if (text === '') return undefined;
  const answer = parseAnswer(text);
  const [method, path = ''] = bytes.toString().split(' ', 2);
  checkAnswer(`${JSON.stringify(method)} ${path.slice(0, 80)}`, answer, path);
  return answer;
}

export function requestBytes(requestLine: string, headerLines: string[] = [], body = ''): string {
  return keptAliveRequest(requestLine, ['Connection: close', ...headerLines], body);
}

/** A service that refuses before the request is whole may reset the connection after its answer. */
async function exchangeBytes(url: string, bytes: string | Buffer): Promise<string> {
  const { socket, closed } = await openConnection(url);
  socket.write(bytes);
  return within('the service answers and closes', hangTimeoutMs(), closed).finally(() => socket.destroy());
}

function parseAnswer(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const length = headers.get('content-length');
  const rest = text.slice(end + 4, length === null ? undefined : end + 4 + Number(length));
  const body =
    headers.get('transfer-encoding') === 'chunked' ? rest.replaceAll(/(^|\r\n)[0-9a-f]+\r\n/g, '') : rest;
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: parseJson(body.trim()),
    text: body.trim(),
  };
}

const SILENCE_MS = 60_000;
const SEND_EVERY_MS = 1000;

export class PausedReader {
  private text = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8');
    // The service cut the connection. `readOn` finds what it had sent.
    socket.on('error', () => undefined);
  }

  static async get(service: Service, path: string, { token }: Account): Promise<PausedReader> {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const reader = new PausedReader(socket);
    socket.write(requestBytes(`GET ${path}`, [`Authorization: Bearer ${token}`]));
    await new Promise<void>((begun, failed) => {
      socket.once('error', failed);
      socket.once('data', (chunk: string) => {
        reader.text = chunk;
        socket.pause();
        begun();
      });
    });
    return reader;
  }

  /** Continues sending, as a client would that wants its connection kept. Empty lines before a request mean nothing. */
  keepSending(): this {
    const timer = setInterval(() => this.socket.write('\r\n'), SEND_EVERY_MS);
    this.socket.once('close', () => clearInterval(timer));
    return this;
  }

  leave(): void {
    this.socket.destroy();
  }

  readOn(): Promise<{ text: string; whole: boolean }> {
    return new Promise((done) => {
      this.socket.setTimeout(SILENCE_MS, () => this.socket.destroy());
      this.socket.on('data', (chunk: string) => (this.text += chunk));
      const end = (): void => done({ text: this.text, whole: this.text.endsWith('\r\n0\r\n\r\n') });
      if (this.socket.destroyed) return end();
      this.socket.on('close', end);
      return this.socket.resume();
    });
  }
}
