/** Ordered from the lowest to the highest permission. */
export const ROLES = ['member', 'admin', 'owner'] as const;

export type Role = (typeof ROLES)[number];

export function roleAtLeast(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** The ways to log in (RFC 8176). */
export const AUTHENTICATION_METHODS = ['pwd', 'otp'] as const;

export type AuthenticationMethod = (typeof AUTHENTICATION_METHODS)[number];

export interface UserPrincipal {
  kind: 'user';
  id: string;
  email: string;
  emailVerified: boolean;
  sessionId: string;
  /** whether a one-time code opened the session, and not a login */
  isDelegated: boolean;
  /** methods of the login, also for a session that a code opened */
  amr: readonly AuthenticationMethod[];
  authTime: number;
  /** the user's `auth_epoch`, with which the session has to agree */
  epoch: number;
  /** the service that exchanged the code with its credentials */
  service: string | null;
  /** the one service for which the code was; null for a plain code and for a login */
  audience: string | null;
  /** whether a shell granted it, as the database says now */
  isOperator: boolean;
}

/** The caller of a request. A request to a public route may have none. */
export type Principal = UserPrincipal | ServicePrincipal;

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
  }
}

/** The key under which limits count a caller. No id of a user contains a colon. */
export function limitKey(principal: Principal): string {
  return principal.kind === 'user' ? principal.id : `service:${principal.name}`;
}

/** @throws Error for a route whose declaration lets others in than the users whom its handler expects */
export function userOf({ principal }: { principal?: Principal }): UserPrincipal {
  if (principal?.kind !== 'user') throw new Error('a route that is not declared for users asks for one');
  return principal;
}

export function serviceOf({ principal }: { principal?: Principal }): ServicePrincipal {
  if (principal?.kind !== 'service')
    throw new Error('a route that is not declared for services asks for one');
  return principal;
}

/** The scopes that an operator can allow a service; the order is the one in which they are stored and shown. */
export const SERVICE_SCOPES = ['introspect', 'memberships', 'events'] as const;

export type ServiceScope = (typeof SERVICE_SCOPES)[number];

export interface ServicePrincipal {
  kind: 'service';
  name: string;
  allow: readonly ServiceScope[];
  /** in which the credentials were found: what they open ends with it */
  epoch: number;
}

/** The edge makes the actor, and hands it down to whatever changes something. */
export type Actor = UserActor | OperatorActor | SystemActor;

export interface Origin {
  requestId: string;
  address: string;
}

export interface SignInOrigin extends Origin {
  userAgent: string | null;
}

/** The key by which writers take turns. */
export function principalOf(actor: Actor): string {
  if (actor.kind === 'user' || isSignedInOperator(actor)) return actor.id;
  return (actor.kind === 'system' && actor.address) || actor.kind;
}

/** An operator who acts over HTTP, with an account of their own, may do less than somebody with a shell. */
export function isSignedInOperator(actor: Actor): actor is SignedInOperator {
  return actor.kind === 'operator' && actor.sessionId !== undefined;
}

/** A user with the session in which they act, of which changes of owners ask more than that it is alive. */
export type UserActor = Origin & Pick<UserPrincipal, 'kind' | 'id' | 'sessionId' | 'isDelegated'>;

export interface OperatorActor extends Partial<Origin> {
  kind: 'operator';
  /** over HTTP the id of the user; else the name that the operator gave, or that the machine knows */
  id: string;
  /** the session in which an operator acts over HTTP */
  sessionId?: string;
  reason?: string;
}

export type SignedInOperator = OperatorActor & Origin & { sessionId: string };

/** The service itself, with the origin of the anonymous request that made it act, if there was one. */
interface SystemActor extends Partial<Origin> {
  kind: 'system';
}
