import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Answer } from './answer.js';
import { Caller, type Connection } from './caller.js';
import { invalidToken } from './expected.js';
import type { Service } from './service.js';

export type Role = 'member' | 'admin' | 'owner';

/** from the least to the most */
export const ROLES: readonly Role[] = ['member', 'admin', 'owner'];

export interface Session {
  token: string;
  user: { id: string; email: string };
}

export type Org = Record<'id' | 'name', string>;

export class Account extends Caller {
  constructor(
    connection: Connection,
    override readonly token: string,
    readonly id: string,
    readonly email: string,
    readonly password: string,
  ) {
    super(connection, token);
  }

  at(service: Service): Account {
    return new Account(connectionTo(service), this.token, this.id, this.email, this.password);
  }

  as(token: string): Account {
    return new Account(this.connection, token, this.id, this.email, this.password);
  }
}

export function aPassword(): string {
  return `horse-${randomBytes(9).toString('base64url')}`;
}

export function anEmail(name = 'someone'): string {
  return `${name}-${randomBytes(6).toString('hex')}@example.com`;
}

/** In the shape of the service's own ids, so that it is looked up and names nothing. */
export function anUnknownId(): string {
  return randomUUIDv7();
}

export function logIn(
  { anyone }: Pick<Service, 'anyone'>,
  { email, password }: Pick<Account, 'email' | 'password'>,
  more: object = {},
): Promise<Answer<Session>> {
  return anyone.post('/api/auth/login', { email, password, ...more });
}

const MAX_LOGIN_RETRIES = 20;

/** One of many at once: comes back when it is told to while too many wait for their hash, as on a busy machine. */
export async function logInAmongMany(...login: Parameters<typeof logIn>): Promise<Answer<Session>> {
  for (let retry = 0; ; retry += 1) {
    const answer = await logIn(...login);
    if (answer.status !== 503 || !answer.text.includes('Too many logins right now')) return answer;
    const seconds = Number(answer.headers.get('retry-after'));
    expect([retry < MAX_LOGIN_RETRIES, seconds > 0], answer.text).toEqual([true, true]);
    await sleep(seconds * 1000);
  }
}

export async function isAlive(session: Account): Promise<boolean> {
  const answer = await session.get('/api/me');
  if (answer.status !== 200) expect(answer).toMatchObject(invalidToken);
  return answer.status === 200;
}

export function anAccount(service: Service, name?: string): Promise<Account> {
  return anAccountOf(service, anEmail(name));
}

export async function anAccountOf(service: Service, email: string): Promise<Account> {
  const credentials = { email, password: aPassword() };
  const { status, body, text } = await service.anyone.post<Session>('/api/auth/register', credentials);
  expect(status, text).toBe(201);
  return new Account(connectionTo(service), body.token, body.user.id, body.user.email, credentials.password);
}

export async function anOrgOf(owner: Account, name = 'Analytical Engines'): Promise<Org> {
  const { status, body, text } = await owner.post<{ org: Org }>('/api/orgs', { name });
  expect(status, text).toBe(201);
  await theNextMillisecond();
  return body.org;
}

export async function join(org: Org, by: Account, who: Account, role: Role): Promise<void> {
  const member = { email: who.email, role: role === 'owner' ? 'admin' : role };
  const added = await by.post(`/api/orgs/${org.id}/members`, member);
  expect(added.status, added.text).toBe(201);
  await theNextMillisecond();
  if (role !== 'owner') return;
  const promoted = await by.patch(`/api/orgs/${org.id}/members/${who.id}`, { role });
  expect(promoted.status, promoted.text).toBe(200);
}

export interface Cast {
  org: Org;
  owner: Account;
  admin: Account;
  member: Account;
  /** has an account and nothing to do with the organization */
  outsider: Account;
}

export async function anOrg(service: Service): Promise<Cast> {
  const [owner, admin, member, outsider] = (await Promise.all(
    ['owner', 'admin', 'member', 'outsider'].map((name) => anAccount(service, name)),
  )) as [Account, Account, Account, Account];
  const org = await anOrgOf(owner);
  await join(org, owner, admin, 'admin');
  await join(org, owner, member, 'member');
  return { org, owner, admin, member, outsider };
}

export async function anOrgWithTwoOwners(service: Service): Promise<Cast & { coOwner: Account }> {
  const cast = await anOrg(service);
  const coOwner = await anAccount(service, 'co-owner');
  await join(cast.org, cast.owner, coOwner, 'owner');
  return { ...cast, coOwner };
}

export async function aCode(account: Account): Promise<string> {
  const { status, body, text } = await account.post<{ code: string }>('/api/auth/code');
  expect(status, text).toBe(201);
  await theNextMillisecond();
  return body.code;
}

export function exchange(
  { anyone }: Pick<Service, 'anyone'>,
  code: unknown,
  more: object = {},
): Promise<Answer<{ token: string }>> {
  return anyone.post('/api/auth/code/exchange', { code, ...more });
}

/** The same user with a token of a session that a code opened, as internal services have. */
export async function byCode(service: Service, account: Account): Promise<Account> {
  const { status, body, text } = await exchange(service, await aCode(account));
  expect(status, text).toBe(200);
  return account.as(body.token);
}

/** A code that only the holder of the verifier can exchange (RFC 7636). */
export async function aBoundCode(account: Account): Promise<{ code: string; verifier: string }> {
  const verifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
  const challenge = { codeChallenge, codeChallengeMethod: 'S256' };
  const { status, body, text } = await account.post<{ code: string }>('/api/auth/code', challenge);
  expect(status, text).toBe(201);
  return { code: body.code, verifier };
}

/** Lists are in order of time to the millisecond: what was made within one comes in the order of random bits. */
export async function theNextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() <= now) await turn();
}

export function connectionTo(service: Service): Connection {
  return { url: service.url, secrets: service.installation.secrets };
}
