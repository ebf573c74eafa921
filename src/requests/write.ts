import type { UserActor } from '../access/actor.js';
import type { EntityTags } from './entity-tags.js';
import type { RequestKey } from './request-key.js';

export interface WriteControls {
  /** states that the change is meant for */
  ifMatch?: EntityTags;
  /** everything is rolled back once the answer is known */
  dryRun: boolean;
  withRemedy: boolean;
  /** the change is made once, however often it is asked for */
  key?: RequestKey;
}

export interface Write extends WriteControls {
  actor: UserActor;
  status: number;
}
