import type { UserPrincipal } from './principal.js';

/** The edge makes the actor, and hands it down to whatever changes something. */
export type Actor = UserActor | OperatorActor | SystemActor;

export interface Origin {
  requestId: string;
  address: string;
}

export interface SignInOrigin extends Origin {
  userAgent: string | null;
}

/** The key by which writers take turns; undefined for somebody with a shell and for the service itself. */
export function principalOf(actor: Actor): string | undefined {
  if (actor.kind === 'user' || isSignedInOperator(actor)) return actor.id;
  return actor.kind === 'system' ? actor.address : undefined;
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
