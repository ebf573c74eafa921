import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

interface Recording {
  metadata: { [name: string]: unknown; issuer: string };
  /** without their numbers */
  keys: { [name: string]: unknown; kid: string }[];
  header: { [name: string]: unknown; alg: string };
  /** seconds from the time of the answer */
  times: Record<string, number>;
  idToken: Record<string, unknown>;
  userInfo: Record<string, unknown>;
  /** what comes back beside `code` and `state` */
  callback: Record<string, string>;
  codeLength?: number;
}

export const RECORDED = [
  'auth0',
  'cognito',
  'entra-id',
  'google',
  'keycloak',
  'okta',
  'okta-custom-server',
] as const;

export type Endpoint = 'metadata' | 'keys' | 'token' | 'userInfo';

export interface SeenRequest {
  endpoint: Endpoint;
  method: string | undefined;
  headers: IncomingMessage['headers'];
  body: URLSearchParams;
}

interface Asked {
  nonce: string | null;
  challenge: string | null;
  redirectUri: string | null;
}

const aKey = (): { privateKey: KeyObject; publicKey: KeyObject } =>
  generateKeyPairSync('rsa', { modulusLength: 2048 });
const SIGNS = aKey();
const OTHER = aKey();

/** Plays what a provider really sends, at a loopback address. A test may change each part of it. */
export class RecordedProvider {
  readonly clientId = 'accounts';
  readonly secret = 'secret of the client at the provider';
  readonly requests: SeenRequest[] = [];
  /** what an endpoint answers instead */
  answers: Partial<Record<Endpoint, (response: ServerResponse) => void>> = {};
  /** how late each answer is */
  delayMs = 0;
  /** signs `header.payload` */
  sign: (input: string) => string = signedBy(SIGNS.privateKey);
  private readonly usedCodes = new Set<string>();

  private constructor(
    readonly recording: Recording,
    private readonly server: ReturnType<typeof createServer> | TlsServer,
    private readonly port: number,
  ) {}

  static async play(name: (typeof RECORDED)[number], tls?: ServerOptions): Promise<RecordedProvider> {
    const server = tls ? createTlsServer(tls) : createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const origin = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
    const file = readFileSync(new URL(`../providers/recorded/${name}.json`, import.meta.url), 'utf8');
    const recording = JSON.parse(file.replaceAll(/https:\/\/[\w.-]+/g, origin)) as Recording;
    const provider = new RecordedProvider(recording, server, port);
    server.on('request', ((request, response) => void provider.serve(request, response)) as RequestListener);
    return provider;
  }

  get issuer(): string {
    return this.recording.metadata.issuer;
  }

  count(endpoint: Endpoint): number {
    return this.requests.filter((request) => request.endpoint === endpoint).length;
  }

  /** What the browser comes back with. The code carries what a provider would store. */
  authorize(authorizationUrl: string): URL {
    const { searchParams: asked } = new URL(authorizationUrl);
    const { callback, codeLength = 0 } = this.recording;
    const stored: Asked = {
      nonce: asked.get('nonce'),
      challenge: asked.get('code_challenge'),
      redirectUri: asked.get('redirect_uri'),
    };
    const code = `${Buffer.from(JSON.stringify(stored)).toString('base64url')}.`.padEnd(codeLength, '0');
    const url = new URL(asked.get('redirect_uri')!);
    const parameters = { code, state: asked.get('state')!, ...callback };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  /** The key signs from now on under this id. */
  rotateKey(kid: string): void {
    this.recording.keys.push({ ...this.recording.keys.at(-1), kid });
    this.recording.header['kid'] = kid;
  }

  /** Presents another certificate in new connections. */
  useCertificate(tls: ServerOptions): void {
    if ('setSecureContext' in this.server) this.server.setSecureContext(tls);
    this.server.closeAllConnections();
  }

  /** After `stop`, at the same address. */
  async startAgain(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = new URLSearchParams(await text(request));
    const endpoint = this.endpointOf(request.url!);
    if (!endpoint) return void response.writeHead(404).end();
    const { method, headers } = request;
    this.requests.push({ endpoint, method, headers, body });
    if (this.delayMs > 0) await delay(this.delayMs);
    const other = this.answers[endpoint];
    if (other) return other(response);
    const [status, answer] = this.answerOf(endpoint, body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return undefined;
  }

  private endpointOf(path: string): Endpoint | undefined {
    const { issuer, jwks_uri, token_endpoint, userinfo_endpoint } = this.recording.metadata;
    const paths: [unknown, Endpoint][] = [
      [`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, 'metadata'],
      [jwks_uri, 'keys'],
      [token_endpoint, 'token'],
      [userinfo_endpoint, 'userInfo'],
    ];
    return paths.find(([url]) => new URL(String(url)).pathname === path)?.[1];
  }

  private answerOf(endpoint: Endpoint, body: URLSearchParams): [number, object] {
    const { metadata, keys, userInfo } = this.recording;
    if (endpoint === 'metadata') return [200, metadata];
    if (endpoint === 'userInfo') return [200, userInfo];
    if (endpoint === 'keys')
      return [200, { keys: keys.map((key) => Object.assign(numbersOf(key['use']), key)) }];
    const asked = this.askedBy(body);
    if (!asked) return [400, { error: 'invalid_grant', error_description: 'AADSTS70008: used or expired' }];
    const idToken = this.idToken(asked.nonce);
    return [
      200,
      { access_token: 'token of the provider', token_type: 'Bearer', expires_in: 3599, id_token: idToken },
    ];
  }

  /** The checks of a provider: once, the verifier of the challenge, the same redirect URI. */
  private askedBy(body: URLSearchParams): Asked | undefined {
    const code = body.get('code') ?? '';
    const verifier = body.get('code_verifier') ?? '';
    if (!code.includes('.') || this.usedCodes.has(code)) return undefined;
    this.usedCodes.add(code);
    const asked = JSON.parse(Buffer.from(code.split('.')[0]!, 'base64url').toString()) as Asked;
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    return asked.challenge === challenge && asked.redirectUri === body.get('redirect_uri')
      ? asked
      : undefined;
  }

  private idToken(nonce: string | null): string {
    const { metadata, header, times, idToken } = this.recording;
    const now = Math.floor(Date.now() / 1000);
    const dated = Object.entries(times).map(([claim, seconds]) => [claim, now + seconds]);
    const claims = {
      iss: metadata.issuer,
      aud: this.clientId,
      nonce,
      ...Object.fromEntries(dated),
      ...idToken,
    };
    const input = `${part(header)}.${part(claims)}`;
    return `${input}.${this.sign(input)}`;
  }
}

export const byAnotherKey = signedBy(OTHER.privateKey);

function signedBy(key: KeyObject): (input: string) => string {
  return (input) => sign('sha256', Buffer.from(input), key).toString('base64url');
}

function numbersOf(use: unknown): object {
  return (use === 'enc' ? OTHER : SIGNS).publicKey.export({ format: 'jwk' });
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
