import type { JWTPayload } from 'jose';
import type { AuthenticationMethod, Role } from '../api.gen.ts';

export const SERVICE_NAME = /^[a-z][a-z0-9-]{0,39}$/;
export const BY_RANK: readonly Role[] = ['member', 'admin', 'owner'];
const PREFIX = 'service:';
/** Accounts issues no token for a longer way. */
const MOST_ACTORS = 4;
const OF_SESSIONS = ['sid', 'login_sid', 'branch_sid', 'auth_time', 'amr', 'epoch'];
export const DIRECT: readonly string[] = Object.freeze([]);
/** What each API key and each token by one depends on: whether this service is allowed to see them. */
export const KEYS_OF_SERVICE = 'keys of this service';

/** A service that called for a user, with `service:` and its name in `sub`. `act` is the service that called it (RFC 8693). */
export interface Actor {
  sub: string;
  act?: Actor;
}

/** Times are epoch seconds. */
interface Claims {
  iss: string;
  aud: string;
  sub: string;
  exp: number;
  iat?: number;
  jti?: string;
  client_id?: string;
  via_epoch?: number;
  [claim: string]: unknown;
}

/** The claims of a user's access token. `sub` is the id of the user. Times are epoch seconds. */
export interface TokenClaims extends Claims {
  /** Id of the session. */
  sid: string;
  auth_time?: number;
  amr?: AuthenticationMethod[];
  epoch?: number;
  /** Id of the login above a delegated session. */
  login_sid?: string;
  /** Id of the first session of the branch, if it is another one. */
  branch_sid?: string;
  /** The services that handed the token on, the latest outermost. */
  act?: Actor;
}

/** The claims of an API key, and of a token by which a service that got the key calls this one. Times are epoch seconds. */
export interface KeyClaims extends Claims {
  key: { id: string; role: Role; org: string | null };
  act?: Actor;
  sid?: undefined;
  epoch?: undefined;
}

/** The claims of a service's own access token. `sub` is `service:` and its name. Times are epoch seconds. */
export interface ServiceClaims extends Claims {
  sid?: undefined;
  epoch?: undefined;
}

/** A token of a user, with the services that handed it on in `via`, the latest last. */
export interface UserToken {
  service?: undefined;
  key?: undefined;
  claims: TokenClaims;
  via: readonly string[];
  /** Everything that the token depends on. The feed names what ends. */
  links: readonly string[];
}

/** What acts by an API key for its user: the key itself, or a token by which services handed it on. */
export interface KeyToken {
  service?: undefined;
  key: ApiKey;
  claims: KeyClaims;
  via: readonly string[];
  links: readonly string[];
}

/** `role` is the most that the key may have. It acts in the organization `orgId` alone; with null in each of its user. */
export interface ApiKey {
  id: string;
  role: Role;
  orgId: string | null;
}

/** A service's own token. */
export interface ServiceToken {
  service: string;
  key?: undefined;
  claims: ServiceClaims;
  via?: undefined;
  links: readonly string[];
}

export const linkOfService = (name: string): string => PREFIX + name;

/** Returns undefined for claims that Accounts does not issue. */
export function readClaims(payload: JWTPayload): UserToken | KeyToken | ServiceToken | undefined {
  const { sub, aud } = payload;
  if (typeof sub !== 'string') return undefined;
  if (sub.startsWith(PREFIX)) return serviceTokenOf(payload, sub);
  if ('key' in payload) return keyTokenOf(payload, sub);
  const { sid, login_sid, branch_sid } = payload;
  const above = [login_sid, branch_sid].filter((id) => id !== undefined);
  if (typeof sid !== 'string' || !above.every((id) => typeof id === 'string')) return undefined;
  const links = [sid, sub, ...above];
  const claims = payload as TokenClaims;
  if (!('act' in payload || 'via_epoch' in payload)) return { claims, via: DIRECT, links };
  const via = handedOnBy(payload);
  return via && { claims, via, links: [...links, ...[...via, aud as string].map(linkOfService)] };
}

/** Returns undefined for what is not a key. */
export function readKey(claim: unknown): ApiKey | undefined {
  const { id, role, org } = (claim ?? {}) as Partial<KeyClaims['key']>;
  const isKnown = typeof id === 'string' && role !== undefined && BY_RANK.includes(role);
  return isKnown && (org === null || typeof org === 'string') ? { id, role, orgId: org } : undefined;
}

export const linksOfKey = ({ id }: ApiKey, userId: string): string[] => [id, userId, KEYS_OF_SERVICE];

function keyTokenOf(payload: JWTPayload, sub: string): KeyToken | undefined {
  const [key, via] = [readKey(payload['key']), handedOnBy(payload)];
  if (!key || !via || OF_SESSIONS.some((claim) => claim in payload)) return undefined;
  const services = [...via, payload.aud as string].map(linkOfService);
  return { key, claims: payload as KeyClaims, via, links: [...linksOfKey(key, sub), ...services] };
}

/** The services on the way, or undefined if Accounts issues no token with this way. */
function handedOnBy(payload: JWTPayload): readonly string[] | undefined {
  const via = wayOf(payload['act']);
  const isIssued = via && isIssuedBy(payload, via.at(-1)!) && !via.includes(payload.aud as string);
  return isIssued ? via : undefined;
}

function serviceTokenOf(payload: JWTPayload, sub: string): ServiceToken | undefined {
  const service = nameIn(sub);
  if (service === undefined || !isIssuedBy(payload, service)) return undefined;
  if (['sid', 'act', 'key'].some((claim) => claim in payload)) return undefined;
  return { service, claims: payload as ServiceClaims, links: [sub, linkOfService(payload.aud as string)] };
}

function isIssuedBy({ aud, client_id, via_epoch }: JWTPayload, service: string): boolean {
  return typeof aud === 'string' && client_id === service && Number.isSafeInteger(via_epoch);
}

/** The names of the actors, the latest last. */
function wayOf(act: unknown): readonly string[] | undefined {
  const way: string[] = [];
  for (let actor = act as Actor | null | undefined; actor !== undefined; actor = actor?.act) {
    const name = nameIn(actor?.sub);
    if (name === undefined || way.includes(name) || way.length === MOST_ACTORS) return undefined;
    way.unshift(name);
  }
  return way.length === 0 ? undefined : Object.freeze(way);
}

function nameIn(sub: unknown): string | undefined {
  if (typeof sub !== 'string' || !sub.startsWith(PREFIX)) return undefined;
  const name = sub.slice(PREFIX.length);
  return SERVICE_NAME.test(name) ? name : undefined;
}
