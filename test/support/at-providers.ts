import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { expect } from 'vitest';
import { DEFAULT_SETTINGS, type ProviderSettings } from '../../src/auth/providers/provider-settings.js';
import { hashCode } from '../../src/auth/sessions/codes.service.js';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import type { Answer } from './answer.js';
import { Account, anEmail, connectionTo, type Session } from './personas.js';
import { Browser, type ProviderUser, type TestProvider, type Visit } from './provider.js';
import { insertRow, insertRows } from './rows.js';
import { keyRingOf } from './second-factor.js';
import type { Service } from './service.js';

/** Where browsers reach the service. */
export const ISSUER = 'https://accounts.example.com';

/** Nothing listens there: the browser stops. */
export const LOOPBACK = 'http://127.0.0.1:49152/done';

/** A provider as operators have set it up. */
export interface AddedProvider<Provider = TestProvider> {
  id: string;
  name: string;
  provider: Provider;
}

interface Setup extends Partial<ProviderSettings> {
  name?: string;
  domains?: string[];
  required?: boolean;
}

/** Adds it in the rows, which is faster than the command. */
export async function addProvider<Provider extends Record<'issuer' | 'clientId' | 'secret', string>>(
  service: Pick<Service, 'installation' | 'db'>,
  provider: Provider,
  { name = aName(), domains = [], required = false, ...settings }: Setup = {},
): Promise<AddedProvider<Provider>> {
  const id = randomUUIDv7();
  const secrets = new EncryptedSecrets(await keyRingOf(service), 'provider secrets');
  await insertRow(service.db, 'providers', {
    id,
    name,
    title: `Title of ${name}`,
    issuer: provider.issuer,
    client_id: provider.clientId,
    secret: secrets.encrypt(Buffer.from(provider.secret), id),
    required: required ? 1 : 0,
    settings: JSON.stringify({ ...DEFAULT_SETTINGS, ...settings }),
    created_at: Date.now(),
  });
  const rows = domains.map((domain) => ({ domain, provider_id: id }));
  if (rows.length > 0) await insertRows(service.db, 'provider_domains', rows);
  service.installation.secrets.note(provider.secret);
  return { id, name, provider };
}

export const aName = (): string => `p${randomBytes(6).toString('hex')}`;

export const aSubject = (): string => `sub-${randomBytes(9).toString('hex')}`;

/** A domain of one test. */
export const aDomain = (): string => `${aName()}.example`;

export const emailAt = (domain: string, name = 'ada'): string => anEmail(name).replace(/@.*/, `@${domain}`);

/** Adds a user to the provider whose email is verified there. */
export function aUserAt({ provider }: AddedProvider, email: string, more: ProviderUser = {}): string {
  return provider.addUser(aSubject(), { email, email_verified: true, ...more });
}

export interface Started {
  authorizationUrl: string;
  state: string;
  codeVerifier: string;
}

export interface Confirmed {
  code: string;
  codeVerifier: string;
}

export const challengeOf = (codeVerifier: string): string =>
  createHash('sha256').update(codeVerifier).digest('base64url');

/** As a program does. Pass `redirectUri: undefined` for a code to paste. */
export async function startAt(
  service: Pick<Service, 'anyone' | 'installation'>,
  name: string,
  more: object = {},
): Promise<Started> {
  const codeVerifier = randomBytes(32).toString('base64url');
  const body = {
    codeChallenge: challengeOf(codeVerifier),
    codeChallengeMethod: 'S256',
    redirectUri: LOOPBACK,
  };
  const answer = await service.anyone.post<{ authorizationUrl: string; state: string }>(
    `/api/auth/providers/${name}/start`,
    { ...body, ...more },
  );
  expect(answer.status, answer.text).toBe(200);
  const { authorizationUrl, state } = answer.body;
  for (const secret of [codeVerifier, state, new URL(authorizationUrl).searchParams.get('state')])
    service.installation.secrets.note(secret);
  return { authorizationUrl, state, codeVerifier };
}

/** A browser in which the user logs in, or, without a subject, refuses. */
export function browserOf(
  service: Pick<Service, 'url'>,
  { provider }: AddedProvider,
  subject?: string,
  headers: Record<string, string> = {},
): Browser {
  const sites = { [provider.issuer]: provider.issuer, [ISSUER]: service.url };
  return new Browser(sites, { 'x-user': subject ?? '', ...headers });
}

/** The parameters with which the browser came back to the program. */
export async function visitFor(
  service: Pick<Service, 'url' | 'installation'>,
  added: AddedProvider,
  { authorizationUrl, state }: Started,
  subject?: string,
): Promise<Record<string, string>> {
  const { url } = await browserOf(service, added, subject).visit(authorizationUrl);
  expect(url.href.split('?', 1)[0]).toBe(LOOPBACK);
  const { state: returned, ...parameters } = Object.fromEntries(url.searchParams);
  expect(returned).toBe(state);
  service.installation.secrets.note(parameters['code']);
  return parameters;
}

/** What the program has when the provider has confirmed the user. */
export async function confirmAt(
  service: Pick<Service, 'url' | 'anyone' | 'installation'>,
  added: AddedProvider,
  subject: string,
  more: object = {},
): Promise<Confirmed> {
  const started = await startAt(service, added.name, more);
  const { code, ...others } = await visitFor(service, added, started, subject);
  expect(others).toEqual({});
  return { code: code!, codeVerifier: started.codeVerifier };
}

export function finishAt(
  { anyone }: Pick<Service, 'anyone'>,
  { code, codeVerifier }: Confirmed,
  more: object = {},
): Promise<Answer<Session & { refreshToken?: string }>> {
  return anyone.post('/api/auth/providers/finish', { code, codeVerifier, ...more });
}

/** A whole login that must succeed. */
export async function logInAt(
  service: Service,
  added: AddedProvider,
  subject: string,
  more: object = {},
): Promise<Account> {
  const answer = await finishAt(service, await confirmAt(service, added, subject), more);
  expect(answer.status, answer.text).toBe(200);
  const { token, user } = answer.body;
  return new Account(connectionTo(service), token, user.id, user.email, '');
}

export async function textOf({ response }: Visit): Promise<string> {
  return response!.text();
}

/** Types and data of the events about a user, in their order. */
export async function eventsOf(
  { db }: Pick<Service, 'db'>,
  userId: string,
): Promise<[type: string, data: unknown][]> {
  const rows = await db.query('SELECT type, data FROM events WHERE user_id = ? ORDER BY id', [userId]);
  return rows.map(({ type, data }) => [String(type), JSON.parse(String(data)) as unknown]);
}

/** What a callback writes, without a provider that is asked. */
export async function insertConfirmed(
  { db, installation }: Pick<Service, 'db' | 'installation'>,
  { id }: Pick<AddedProvider, 'id'>,
  { subject, email }: { subject: string; email: string | null },
): Promise<Confirmed> {
  const [code, codeVerifier] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64url'));
  installation.secrets.note(code);
  const now = Date.now();
  const user = { subject, email, email_verified: 1, name: null, auth_time: now };
  const hash = hashCode(code!, challengeOf(codeVerifier!));
  await insertRow(db, 'provider_logins', {
    hash,
    provider_id: id,
    ...user,
    created_at: now,
    expires_at: now + 60_000,
  });
  return { code: code!, codeVerifier: codeVerifier! };
}
