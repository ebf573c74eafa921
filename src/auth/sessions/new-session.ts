import type { Env } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';

/** A session as tokens are made from it. Times are epoch milliseconds. */
export interface NewSession {
  id: string;
  userId: string;
  authTime: number;
  /** the user's, see users.auth_epoch */
  authEpoch: number;
  createdAt: number;
  expiresAt: number;
}

/**
 * A session that starts now, not stored yet. It lives as long as one token, and never longer after `authTime` than
 * SESSION_MAX_AGE: passing a login on does not extend it.
 */
export function newSession(
  { tokenTtl, sessionMaxAge }: Pick<Env, 'tokenTtl' | 'sessionMaxAge'>,
  {
    userId,
    authEpoch,
    authTime = Date.now(),
  }: Pick<NewSession, 'userId' | 'authEpoch'> & { authTime?: number },
): NewSession {
  const createdAt = Date.now();
  const expiresAt = Math.min(createdAt + tokenTtl * 1000, authTime + sessionMaxAge * 1000);
  return { id: newEntityId(), userId, authEpoch, authTime, createdAt, expiresAt };
}
