import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}
export type Answer = (response: ServerResponse, asked: Asked) => void;

/** Answers what it is told to, in turn; the last answer is for all further requests. */
export class OddServer {
  readonly asked: Asked[] = [];
  private answers: Answer[] = [];
  private readonly server = createServer((request, response) => void this.take(request, response));

  static async start(): Promise<OddServer> {
    const odd = new OddServer();
    odd.server.listen(0, '127.0.0.1');
    await once(odd.server, 'listening');
    return odd;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  answer(...answers: Answer[]): void {
    this.asked.length = 0;
    this.answers = answers;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const asked = { method, path, headers, body: await text(request) };
    this.asked.push(asked);
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    answer?.(response, asked);
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'Content-Type': 'application/json', ...headers })
      .end(JSON.stringify(body));

export const page =
  (status: number, html: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end(html);

export const hangUp: Answer = (response) => void response.destroy();

export const silence: Answer = () => undefined;

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(status, { type: 'about:blank', title: 'T', status, detail: 'D', code, requestId: 'r' }, headers);

export const failedWith = (code: string, more: object = {}): object => ({
  ok: false,
  problem: { code, ...more },
});

let tokens = 0;

/** Tokens as the service gives them, unsigned. */
export function aSignIn(lifeSeconds = 900) {
  tokens += 1;
  // The clock of the service is two hours ahead.
  const iat = Math.floor(Date.now() / 1000) + 7200;
  const payload = Buffer.from(JSON.stringify({ iat, exp: iat + lifeSeconds, jti: tokens }));
  return {
    token: `h.${payload.toString('base64url')}.s`,
    refreshToken: `refresh.${tokens}`,
    expiresAt: new Date((iat + lifeSeconds) * 1000).toISOString(),
    user: { id: 'u', email: 'ada@example.com' },
  };
}
