export const ROLES = ['member', 'admin', 'owner'] as const;

export type Role = (typeof ROLES)[number];

export function roleAtLeast(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

export function lowerRole(one: Role, other: Role): Role {
  return roleAtLeast(one, other) ? other : one;
}

/** RFC 8176, and `fed` (federated) for a login at a provider, which has no word there. */
export const AUTHENTICATION_METHODS = ['pwd', 'fed', 'otp'] as const;

export type AuthenticationMethod = (typeof AUTHENTICATION_METHODS)[number];

export interface UserPrincipal {
  kind: 'user';
  id: string;
  email: string;
  emailVerified: boolean;
  sessionId: string;
  isDelegated: boolean;
  /** A delegated session inherits it from the login. */
  amr: readonly AuthenticationMethod[];
  authTime: number;
  epoch: number;
  hasSecondFactor: boolean;
  service: string | null;
  /** the only service that the one-time code was for; null for a plain code and for a login */
  audience: string | null;
  /** the services that handed the access token on, the latest last */
  via: readonly string[];
  isOperator: boolean;
}

export type Principal = UserPrincipal | ServicePrincipal;

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
  }
}

/** Rate limits count a caller under this key. The id of a user contains no colon. */
export function limitKey(principal: Principal): string {
  return principal.kind === 'user' ? principal.id : `service:${principal.name}`;
}

export function userOf({ principal }: { principal?: Principal }): UserPrincipal {
  if (principal?.kind !== 'user') throw new Error('a route that is not declared for users asks for one');
  return principal;
}

export function serviceOf({ principal }: { principal?: Principal }): ServicePrincipal {
  if (principal?.kind !== 'service')
    throw new Error('a route that is not declared for services asks for one');
  return principal;
}

export const SERVICE_SCOPES = [
  'introspect',
  'memberships',
  'events',
  'directory',
  'directory:all',
  'keys',
] as const;

export type ServiceScope = (typeof SERVICE_SCOPES)[number];

export interface ServicePrincipal {
  kind: 'service';
  name: string;
  allow: readonly ServiceScope[];
  epoch: number;
}

export type Actor = UserActor | OperatorActor | SystemActor;

export interface Origin {
  requestId: string;
  address: string;
}

export interface SignInOrigin extends Origin {
  userAgent: string | null;
}

export function principalOf(actor: Actor): string {
  if (actor.kind === 'user' || isSignedInOperator(actor)) return actor.id;
  return (actor.kind === 'system' && actor.address) || actor.kind;
}

export function isSignedInOperator(actor: Actor): actor is SignedInOperator {
  return actor.kind === 'operator' && actor.sessionId !== undefined;
}

/** `amr` and `authTime` are absent if the actor is not the caller of a request. */
export type UserActor = Origin &
  Pick<UserPrincipal, 'kind' | 'id' | 'sessionId' | 'isDelegated'> &
  Partial<Pick<UserPrincipal, 'amr' | 'authTime'>>;

export interface OperatorActor extends Partial<Origin> {
  kind: 'operator';
  /** id of the user over HTTP, a name in the CLI */
  id: string;
  /** over HTTP, for the audit log, which outlives the user */
  email?: string;
  sessionId?: string;
  reason?: string;
}

export type SignedInOperator = OperatorActor & Origin & { sessionId: string };

/** Accounts itself, with the origin of the anonymous request that it acts for, if any. */
interface SystemActor extends Partial<Origin> {
  kind: 'system';
}
