import { connect, type Socket } from 'node:net';

/** A connection that a test writes to and reads from piece by piece. */
export interface OpenConnection {
  socket: Socket;
  /** everything that the service has sent so far */
  text: () => string;
  /** the statuses of the final answers so far, in order */
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
