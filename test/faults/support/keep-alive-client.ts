import { Agent, type IncomingMessage, request } from 'node:http';

/**
 * - `answered`: the whole answer came.
 * - `refused`: nobody listened.
 * - `closed`: the connection was closed before any byte of an answer: as a client may see it whose request met the
 *   closing of an idle connection, or waited in the system's queue of connections that nobody took any more.
 * - `lost`: anything else, such as half an answer or none in time.
 */
export type Sent =
  | { kind: 'answered'; status: number; body: string }
  | { kind: 'refused' }
  | { kind: 'closed'; reused: boolean }
  | { kind: 'lost'; why: string };

interface Wanted {
  token?: string;
  body?: unknown;
}

const SILENCE_MS = 15_000;
const CLOSED = new Set(['ECONNRESET', 'EPIPE']);

/** One connection, kept open between requests, which never repeats a request by itself. */
export class KeepAliveClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  send(method: string, path: string, { token, body }: Wanted = {}): Promise<Sent> {
    return new Promise((resolve) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      let readBefore = 0;
      const sent = request(this.url + path, {
        method,
        agent: this.agent,
        timeout: SILENCE_MS,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
        },
      });
      const fail = (error: NodeJS.ErrnoException): void => {
        const isSilent = (sent.socket?.bytesRead ?? 0) === readBefore;
        if (error.code === 'ECONNREFUSED') resolve({ kind: 'refused' });
        else if (CLOSED.has(error.code ?? '') && isSilent)
          resolve({ kind: 'closed', reused: sent.reusedSocket });
        else resolve({ kind: 'lost', why: `${error.code ?? error.message} after ${path}` });
      };
      sent.once('socket', (socket) => {
        readBefore = socket.bytesRead;
      });
      sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
      sent.once('error', fail);
      sent.once('response', (response) => collect(response, resolve, fail));
      sent.end(bytes);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

function collect(
  response: IncomingMessage,
  resolve: (sent: Sent) => void,
  fail: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.once('error', fail);
  response.once('end', () =>
    resolve({ kind: 'answered', status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
  );
}
