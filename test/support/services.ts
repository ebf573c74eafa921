import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { expect } from 'vitest';
import type { ServiceScope } from '../../src/access/principal.js';
import { hashSecret, newSecret } from '../../src/services/service-secrets.js';
import type { Database } from './database.js';
import type { Answer } from './answer.js';
import { Caller } from './caller.js';
import { type Account, connectionTo, type Session } from './personas.js';
import { insertRow } from './rows.js';
import type { Service } from './service.js';

/** An internal service, with the rows that `accounts services` would leave. */
export interface ServiceClient {
  name: string;
  secret: string;
  /** value of the header that proves who it is */
  authorization: string;
  /** gives it another secret that is live, too */
  rotate(): Promise<string>;
  revoke(secret: string): Promise<void>;
  endSessions(): Promise<void>;
  disable(): Promise<void>;
  enable(): Promise<void>;
}

export function basic(name: string, secret: string): string {
  return `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
}

export async function aServiceClient(
  db: Database,
  allow: readonly ServiceScope[] = [],
  name = `service-${randomBytes(6).toString('hex')}`,
): Promise<ServiceClient> {
  await insertRow(db, 'services', { name, allow: allow.join(), created_at: Date.now() });
  const rotate = async (): Promise<string> => {
    const secret = newSecret();
    const row = { id: randomUUIDv7(), service: name, hash: hashSecret(secret), created_at: Date.now() };
    await insertRow(db, 'service_secrets', row);
    return secret;
  };
  const raise = (disabledAt: string): Promise<unknown> =>
    db.query(`UPDATE services SET epoch = epoch + 1, disabled_at = ${disabledAt} WHERE name = ?`, [name]);
  const secret = await rotate();
  return {
    name,
    secret,
    authorization: basic(name, secret),
    rotate,
    revoke: async (revoked) => {
      const sql = 'UPDATE service_secrets SET revoked_at = ? WHERE hash = ?';
      await db.query(sql, [Date.now(), hashSecret(revoked)]);
    },
    endSessions: async () => void (await raise('disabled_at')),
    disable: async () => void (await raise('created_at')),
    enable: async () => {
      await db.query('UPDATE services SET disabled_at = NULL WHERE name = ?', [name]);
    },
  };
}

export interface ServiceToken {
  access_token: string;
  token_type: string;
  expires_in: number;
  issued_token_type?: string;
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

export function tokenRequest(audience: string, subject?: string): Record<string, string> {
  if (subject === undefined) return { grant_type: 'client_credentials', audience };
  const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange';
  return { grant_type, audience, subject_token: subject, subject_token_type: ACCESS_TOKEN };
}

/** As `accounts services call` and `revoke-call` leave the row, without their events. */
export async function setCall(
  db: Database,
  caller: { name: string },
  callee: { name: string },
  isAllowed = true,
): Promise<void> {
  const names = [caller.name, callee.name];
  const known = await db.query('SELECT epoch FROM service_calls WHERE caller = ? AND callee = ?', names);
  if (known.length === 0) await insertRow(db, 'service_calls', { caller: caller.name, callee: callee.name });
  const change = isAllowed ? 'allowed_at = 1' : 'allowed_at = NULL, epoch = epoch + 1';
  await db.query(`UPDATE service_calls SET ${change} WHERE caller = ? AND callee = ?`, names);
}

export class ServiceCaller extends Caller {
  constructor(
    service: Service,
    readonly client: ServiceClient,
  ) {
    super(connectionTo(service), undefined, { authorization: client.authorization });
  }

  get name(): string {
    return this.client.name;
  }

  get secret(): string {
    return this.client.secret;
  }

  at(service: Service): ServiceCaller {
    return new ServiceCaller(service, this.client);
  }

  introspect<Body = unknown>(parameters: Record<string, string>): Promise<Answer<Body>> {
    return this.sendForm('/api/auth/introspect', new URLSearchParams(parameters).toString());
  }

  requestToken<Body = ServiceToken>(parameters: Record<string, string>): Promise<Answer<Body>> {
    return this.sendForm('/api/auth/token', new URLSearchParams(parameters).toString());
  }

  sendForm<Body = unknown>(
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    type = 'application/x-www-form-urlencoded',
  ): Promise<Answer<Body>> {
    return this.send('POST', path, { headers: { 'content-type': type }, body });
  }
}

export async function aServiceCaller(service: Service, ...allow: ServiceScope[]): Promise<ServiceCaller> {
  const { db, secrets } = service.installation;
  const client = await aServiceClient(db, allow);
  for (const text of [client.secret, client.authorization.slice('Basic '.length)]) secrets.note(text);
  return new ServiceCaller(service, client);
}

/** for the service itself, or for the user of a token that it holds */
export async function aCallToken(by: ServiceCaller, to: { name: string }, subject?: string): Promise<string> {
  const { status, body, text } = await by.requestToken(tokenRequest(to.name, subject));
  expect(status, text).toBe(200);
  return body.access_token;
}

export async function aBoundToken(by: ServiceCaller, user: Account): Promise<string> {
  const issued = await user.post<{ code: string }>('/api/auth/code', { audience: by.name });
  expect(issued.status, issued.text).toBe(201);
  const { code } = issued.body;
  const exchanged = await by.post<Session>('/api/auth/code/exchange', { code });
  expect(exchanged.status, exchanged.text).toBe(200);
  return exchanged.body.token;
}
