import type { UserActor } from '../access/actor.js';

/** A change that a signed-in user asks for. */
export interface Write {
  actor: UserActor;
}
