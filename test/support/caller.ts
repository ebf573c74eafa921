import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type RequestOptions } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { type Answer, checkAnswer, parseJson } from './answer.js';
import { contract } from './contract.js';
import type { Secrets } from './secrets.js';
import { hangTimeoutMs, within } from '../../tooling/wait.js';

const AGENT = new Agent({ keepAlive: true });

export interface Connection {
  url: string;
  secrets: Secrets;
}

export interface RawRequest {
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/** What no log may have. */
const SENT_SECRETS =
  'password currentPassword newPassword code codeVerifier refreshToken invitationCode challenge deviceName'.split(
    ' ',
  );

/**
 * An HTTP client that never throws because of a status, notes every secret that passes, and checks each answer
 * against what holds for all of them and against the OpenAPI document, which every service publishes.
 */
export class Caller {
  constructor(
    protected readonly connection: Connection,
    readonly token?: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  with(headers: Record<string, string>): Caller {
    return new Caller(this.connection, this.token, { ...this.headers, ...headers });
  }

  withToken(token: string | undefined): Caller {
    return new Caller(this.connection, token, this.headers);
  }

  get<Body = unknown>(path: string): Promise<Answer<Body>> {
    return this.send('GET', path);
  }

  post<Body = unknown>(path: string, body?: unknown): Promise<Answer<Body>> {
    return this.sendJson('POST', path, body);
  }

  patch<Body = unknown>(path: string, body?: unknown): Promise<Answer<Body>> {
    return this.sendJson('PATCH', path, body);
  }

  put<Body = unknown>(path: string, body?: unknown): Promise<Answer<Body>> {
    return this.sendJson('PUT', path, body);
  }

  delete<Body = unknown>(path: string, body?: unknown): Promise<Answer<Body>> {
    return this.sendJson('DELETE', path, body);
  }

  /** `undefined` sends no body and no content type at all. */
  sendJson<Body>(method: string, path: string, body: unknown): Promise<Answer<Body>> {
    if (body === undefined) return this.send(method, path);
    this.noteSecrets(body, SENT_SECRETS);
    return this.send(method, path, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  async send<Body>(method: string, path: string, raw: RawRequest = {}): Promise<Answer<Body>> {
    const headers: Record<string, string> = { ...this.headers, ...raw.headers };
    if (this.token !== undefined) {
      this.connection.secrets.noteToken(this.token);
      headers['authorization'] = `Bearer ${this.token}`;
    }
    const sent = exchange(this.connection.url + path, { method, headers }, raw.body);
    const answer = await within(`${method} ${path}`, hangTimeoutMs(), sent);
    this.noteSecrets(answer.body, ['challenge']);
    if (answer.status < 300)
      this.noteSecrets(answer.body, ['token', 'code', 'refreshToken', 'secret', 'uri', 'key']);

    checkAnswer(`${method} ${path}`, answer, path);
    if (method !== 'HEAD') contract.check(method, path, answer);
    return answer as Answer<Body>;
  }

  private noteSecrets(body: unknown, fields: string[]): void {
    if (typeof body !== 'object' || body === null) return;
    for (const [field, value] of Object.entries(body)) {
      if (fields.includes(field)) this.connection.secrets.note(value);
      if (field === 'recoveryCodes' && Array.isArray(value))
        for (const one of value) this.connection.secrets.note(one);
      if (field === 'token' && typeof value === 'string') this.connection.secrets.noteToken(value);
      if (field === 'invitation') this.noteSecrets(value, fields);
    }
  }
}

/** Not `fetch`, which takes most of the time of a test process. */
async function exchange(url: string, options: RequestOptions, body?: string | Uint8Array): Promise<Answer> {
  const sent = request(url, { ...options, agent: AGENT });
  // A connection may break once the answer is there, such as of a body that was rejected before its end.
  sent.on('error', () => undefined);
  // Node gives the body of a DELETE none by itself.
  if (body !== undefined && !sent.hasHeader('content-length')) {
    sent.setHeader('content-length', Buffer.byteLength(body));
  }
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await readText(response);
  const { statusCode: status = 0, headersDistinct } = response;
  const headers = new Headers(
    Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  );
  return { status, headers, body: parseJson(text), text };
}
