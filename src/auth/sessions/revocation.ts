import type { Actor, OperatorActor } from '../../access/actor.js';

export interface RevocableSession {
  id: string;
  userId: string;
}

/** Operators end all sessions of a user, never one. */
export interface Revocation {
  actor: Exclude<Actor, OperatorActor>;
  reason: 'code_reused' | 'refresh_reused' | 'logout' | 'revoked' | 'too_many';
}
