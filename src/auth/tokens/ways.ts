import { type Role, ROLES } from '../../access/principal.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { isServiceName } from '../../services/service-secrets.js';

/** The service that asked for a token for another one, in the words of RFC 8693 section 4.1. */
export interface ActClaim {
  sub: string;
  /** the service that handed the previous token on to it */
  act?: ActClaim;
}

/** Services in `act`; the audience comes on top. */
export const MAX_SERVICES = 4;

const PREFIX = 'service:';

export function serviceSubject(name: string): string {
  return PREFIX + name;
}

function serviceOfSubject(subject: unknown): string | undefined {
  if (typeof subject !== 'string' || !subject.startsWith(PREFIX)) return undefined;
  const name = subject.slice(PREFIX.length);
  return isServiceName(name) ? name : undefined;
}

/** Returns the services that handed a token on, the latest last, or undefined if the claim is malformed. */
export function wayOf(act: unknown): string[] | undefined {
  const way: string[] = [];
  for (let actor = act; actor !== undefined; actor = (actor as ActClaim).act) {
    if (typeof actor !== 'object' || actor === null || Array.isArray(actor)) return undefined;
    const name = serviceOfSubject((actor as ActClaim).sub);
    if (name === undefined || way.includes(name) || way.length === MAX_SERVICES) return undefined;
    way.unshift(name);
  }
  return way;
}

/** The claim of a way, the latest service last and outermost. */
export function actOf(way: readonly string[]): ActClaim | undefined {
  return way.reduce<ActClaim | undefined>(
    (act, name) => ({ sub: serviceSubject(name), ...(act && { act }) }),
    undefined,
  );
}

export interface ServiceTokenClaims {
  iss: string;
  aud: string;
  sub: string;
  client_id: string;
  via_epoch: number;
  jti: string;
  iat: number;
  exp: number;
}

/** An API key as services see it. */
export interface KeyClaim {
  id: string;
  /** the most that the key may have */
  role: Role;
  /** the organization that the key is limited to */
  org: string | null;
}

/** of a token that was handed on by a service that got an API key */
export interface KeyTokenClaims extends ServiceTokenClaims {
  act: ActClaim;
  key: KeyClaim;
}

interface DelegationClaims {
  aud?: unknown;
  client_id?: unknown;
  act?: unknown;
  via_epoch?: unknown;
}

/** RFC 9068 section 2.2: the client is the service that asked for the token. Without `act`, a token is for its client. */
export function areDelegationClaims({ aud, client_id, act, via_epoch }: DelegationClaims): boolean {
  if (act === undefined) return client_id === aud;
  const way = wayOf(act);
  return way !== undefined && way.at(-1) === client_id && isCall(way, aud) && Number.isSafeInteger(via_epoch);
}

/** A token that a service got for itself has neither user nor session. */
export function areServiceTokenClaims(claims: object): claims is ServiceTokenClaims {
  if ('sid' in claims || 'act' in claims) return false;
  const { aud, sub, client_id, via_epoch } = claims as Partial<Record<keyof ServiceTokenClaims, unknown>>;
  const name = serviceOfSubject(sub);
  return name !== undefined && name === client_id && isCall([name], aud) && Number.isSafeInteger(via_epoch);
}

/** A token whose way began with an API key has a user, but no session. */
export function areKeyTokenClaims(claims: object): claims is KeyTokenClaims {
  if (!('act' in claims) || 'sid' in claims || 'auth_time' in claims) return false;
  const { sub, key } = claims as Partial<Record<keyof KeyTokenClaims, unknown>>;
  return isEntityId(sub) && isKeyClaim(key) && areDelegationClaims(claims);
}

function isKeyClaim(claim: unknown): boolean {
  if (typeof claim !== 'object' || claim === null) return false;
  const { id, role, org } = claim as Partial<Record<keyof KeyClaim, unknown>>;
  return isEntityId(id) && ROLES.some((known) => known === role) && (org === null || isEntityId(org));
}

function isCall(way: readonly string[], audience: unknown): boolean {
  return typeof audience === 'string' && isServiceName(audience) && !way.includes(audience);
}
