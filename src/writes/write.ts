import type { UserActor } from '../access/actor.js';
import type { TagAnswer } from './entity-tag.decorator.js';
import type { EntityTags } from './entity-tags.js';
import type { RequestKey } from './request-key.js';

/** How carefully a client asks for a change, besides the change itself. */
export interface Care {
  /** the change is for one of these states only */
  ifMatch?: EntityTags;
  /** everything is rolled back once the answer is known */
  dryRun: boolean;
  /** refusals name the way out */
  withRemedy: boolean;
  /** the change is made once, however often it is asked for */
  key?: RequestKey;
}

/** A change that a signed-in user asks for. */
export interface Write extends Care {
  actor: UserActor;
  /** of a success */
  status: number;
  /** names the state after the change, once there is one: not of a dry run, and not of what was only repeated */
  tagAnswer?: TagAnswer;
}
