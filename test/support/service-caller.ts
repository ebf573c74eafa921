import { expect } from 'vitest';
import type { ServiceScope } from '../../src/access/principal.js';
import type { Answer } from './answer.js';
import { Caller } from './caller.js';
import { type Account, connectionTo, type Session } from './personas.js';
import type { Service } from './service.js';
import { aServiceClient, type ServiceClient } from './services.js';

/** An internal service that sends its credentials with each request. */
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

  /** The same one at another instance. */
  at(service: Service): ServiceCaller {
    return new ServiceCaller(service, this.client);
  }

  introspect<Body = unknown>(parameters: Record<string, string>): Promise<Answer<Body>> {
    return this.sendForm('/api/auth/introspect', new URLSearchParams(parameters).toString());
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

/** The token that a code for this service alone opens. */
export async function aBoundToken(by: ServiceCaller, user: Account): Promise<string> {
  const issued = await user.post<{ code: string }>('/api/auth/code', { audience: by.name });
  expect(issued.status, issued.text).toBe(201);
  const { code } = issued.body;
  const exchanged = await by.post<Session>('/api/auth/code/exchange', { code });
  expect(exchanged.status, exchanged.text).toBe(200);
  return exchanged.body.token;
}
