import { type Answer, checkAnswer, parseJson } from './answer.js';
import type { Contract } from './contract.js';
import type { Secrets } from './secrets.js';
import { hangTimeoutMs, within } from '../../tooling/wait.js';

export interface Connection {
  url: string;
  contract: Contract;
  secrets: Secrets;
}

export interface RawRequest {
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * An HTTP client that never throws because of a status, notes every secret that passes, and checks each answer
 * against what holds for all of them and against the service's own OpenAPI document.
 */
export class Caller {
  constructor(
    protected readonly connection: Connection,
    readonly token?: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  /** The same caller with further request headers. */
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

  delete<Body = unknown>(path: string, body?: unknown): Promise<Answer<Body>> {
    return this.sendJson('DELETE', path, body);
  }

  /** `undefined` sends no body and no content type at all. */
  sendJson<Body>(method: string, path: string, body: unknown): Promise<Answer<Body>> {
    if (body === undefined) return this.send(method, path);
    this.noteSecrets(body, [
      'password',
      'currentPassword',
      'newPassword',
      'code',
      'codeVerifier',
      'refreshToken',
    ]);
    const request = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return this.send(method, path, request);
  }

  async send<Body>(method: string, path: string, request: RawRequest = {}): Promise<Answer<Body>> {
    const headers = new Headers({ ...this.headers, ...request.headers });
    if (this.token !== undefined) {
      this.connection.secrets.noteToken(this.token);
      headers.set('authorization', `Bearer ${this.token}`);
    }
    // Bytes, because fetch gives a string body a content type that the test did not ask for.
    const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
    const options = { method, headers, redirect: 'manual' as const, ...(body ? { body } : {}) };
    const answer = await within(`${method} ${path}`, hangTimeoutMs(), this.exchange(path, options));
    if (answer.status < 300) this.noteSecrets(answer.body, ['token', 'code', 'refreshToken']);

    checkAnswer(`${method} ${path}`, answer, path);
    if (method !== 'HEAD') await this.connection.contract.check(method, path, answer);
    return answer as Answer<Body>;
  }

  private async exchange(path: string, options: RequestInit): Promise<Answer> {
    const response = await fetch(this.connection.url + path, options);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parseJson(text), text };
  }

  private noteSecrets(body: unknown, fields: string[]): void {
    if (typeof body !== 'object' || body === null) return;
    for (const [field, value] of Object.entries(body)) {
      if (fields.includes(field)) this.connection.secrets.note(value);
      if (field === 'token' && typeof value === 'string') this.connection.secrets.noteToken(value);
    }
  }
}
