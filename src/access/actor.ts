/** Who acts: made at the edge, and handed down to whatever changes something. */
export type Actor = UserActor | OperatorActor | SystemActor;

/** Where a request came from. */
export interface Origin {
  requestId: string;
  address: string;
}

/** Where a session is opened from. */
export interface SignInOrigin extends Origin {
  /** null where the client sent none */
  userAgent: string | null;
}

/** Who takes turns with others; undefined: somebody with a shell, or the service itself. */
export function principalOf(actor: Actor): string | undefined {
  if (actor.kind === 'user') return actor.id;
  return actor.kind === 'system' ? actor.address : undefined;
}

export interface UserActor extends Origin {
  kind: 'user';
  id: string;
  sessionId: string;
  /** whether the session is a login by password; a service that exchanged a code acts by a session that is none */
  byPassword: boolean;
}

/** Somebody with a shell. */
export interface OperatorActor {
  kind: 'operator';
  /** the name that the operator gave, or that the machine knows */
  id: string;
  reason?: string;
}

/** The service itself; with an origin where a request of somebody unknown made it act. */
interface SystemActor extends Partial<Origin> {
  kind: 'system';
}
