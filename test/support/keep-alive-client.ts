import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { Agent as TlsAgent, type AgentOptions, request as requestOverTls } from 'node:https';
import { text } from 'node:stream/consumers';

export interface Answered {
  kind: 'answered';
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * - `answered`: the whole answer came.
 * - `refused`: nobody listened.
 * - `closed`: the connection was closed before any byte of an answer: as a client may see it whose request met the
 *   closing of an idle connection, or waited in the system's queue of connections when the service stopped.
 * - `lost`: anything else, such as half an answer or none in time.
 */
export type Sent =
  | Answered
  | { kind: 'refused' }
  | { kind: 'closed'; reused: boolean }
  | { kind: 'lost'; why: string };

interface Wanted {
  token?: string;
  /** of JSON */
  body?: unknown;
  headers?: Record<string, string>;
}

const CLOSED = new Set(['ECONNRESET', 'EPIPE']);

/** One connection, kept open between requests, which never repeats a request by itself. */
export class KeepAliveClient {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    private readonly timeoutMs: number,
    options: AgentOptions = {},
  ) {
    const keptAlive = { ...options, keepAlive: true, maxSockets: 1 };
    this.agent = url.startsWith('https:') ? new TlsAgent(keptAlive) : new Agent(keptAlive);
  }

  send(method: string, path: string, { token, body, headers }: Wanted = {}): Promise<Sent> {
    return new Promise((resolve) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      let readBefore = 0;
      const open = this.url.startsWith('https:') ? requestOverTls : request;
      const sent = open(this.url + path, {
        method,
        agent: this.agent,
        timeout: this.timeoutMs,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
          ...headers,
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
      sent.once('response', (response) => {
        const { statusCode: status = 0, headers: received } = response;
        text(response).then(
          (all) => resolve({ kind: 'answered', status, headers: received, body: all }),
          fail,
        );
      });
      sent.end(bytes);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

export function describeSent(sent: Sent): string {
  if (sent.kind === 'answered') return `answered ${sent.status}`;
  if (sent.kind === 'lost') return `lost: ${sent.why}`;
  if (sent.kind === 'closed') return sent.reused ? 'closed, kept open' : 'closed, new';
  return sent.kind;
}
