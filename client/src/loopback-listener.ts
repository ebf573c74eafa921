import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const CALLBACK = '/callback';
/** Long enough for a browser to ask for the page, since the program ends the login without waiting for that. */
const PAGE_WITHIN_MS = 5_000;
const HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'",
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};
const PAGE = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Log in</title>
<p>You can close this page and return to the program.</p></html>
`;

/** What Accounts sends to the program by the browser. */
export type Callback = { code: string } | { error: string };

/** Listens on a loopback address (RFC 8252) for one callback with the expected state, and then closes. */
export class LoopbackListener {
  readonly redirectUri: string;
  private readonly server: Server;
  private state: string | undefined;
  private found: ((callback: Callback) => void) | undefined;
  private pageTimer: NodeJS.Timeout | undefined;

  private constructor(server: Server) {
    const { family, address, port } = server.address() as AddressInfo;
    this.server = server;
    this.redirectUri = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${CALLBACK}`;
    server.on('request', (request, response) => this.answer(request, response));
    // A connection that cannot be accepted must not end the program.
    server.on('error', () => undefined);
  }

  /** Rejects if this computer has no loopback address. */
  static async open(): Promise<LoopbackListener> {
    return new LoopbackListener(await listenOn('127.0.0.1').catch(() => listenOn('::1')));
  }

  /** Call it before the browser can come. Requests with another state change nothing. */
  callback(state: string): Promise<Callback> {
    this.state = state;
    return new Promise((found) => (this.found = found));
  }

  /** Closes at once, unless the browser still has to get the page. */
  close(): void {
    if (this.pageTimer === undefined) this.end();
  }

  private answer({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    const [path, query = ''] = url.split('?', 2);
    if (method === 'GET' && path === CALLBACK && this.take(new URLSearchParams(query))) {
      // The last entry of the browser's history has no code then.
      response.writeHead(303, { ...HEADERS, Location: '/' }).end();
    } else if (method === 'GET' && path === '/' && this.pageTimer !== undefined) {
      response.on('close', () => this.end());
      response.writeHead(200, { ...HEADERS, 'Content-Type': 'text/html' }).end(PAGE);
    } else {
      response.writeHead(404, HEADERS).end();
    }
  }

  private take(parameters: URLSearchParams): boolean {
    const [state, code, error] = ['state', 'code', 'error'].map((name) => parameters.get(name));
    if (state === null || state !== this.state || (code === null) === (error === null)) return false;
    this.found?.(code ? { code } : { error: error ?? '' });
    this.pageTimer ??= setTimeout(() => this.end(), PAGE_WITHIN_MS);
    return true;
  }

  private end(): void {
    clearTimeout(this.pageTimer);
    this.server.close();
    // Browsers open connections that they do not use.
    this.server.closeAllConnections();
  }
}

async function listenOn(host: string): Promise<Server> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  return server;
}
