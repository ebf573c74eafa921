import type { NewEvent } from '../events/event-types.js';

type Ended = Extract<NewEvent<'session.ended'>, { data: { all: true } }>;

/** How all sessions of a user end. */
export interface EndOfAll {
  reason: Ended['data']['reason'];
  /** the one session that goes on */
  except?: string | undefined;
}

/** @param epoch the new one of the user */
export function allSessionsEnded(
  { actor, userId }: Pick<Ended, 'actor' | 'userId'>,
  { reason, except }: EndOfAll,
  epoch: number,
): Ended {
  const data = { reason, all: true, ...(except !== undefined && { except }), epoch } as const;
  return { type: 'session.ended', actor, userId, data };
}
