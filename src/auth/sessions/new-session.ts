import type { Env } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';

/** Times are epoch milliseconds. */
export interface NewSession {
  id: string;
  userId: string;
  authTime: number;
  /** the user's, see users.auth_epoch */
  authEpoch: number;
  createdAt: number;
  expiresAt: number;
}

/** Ends at most SESSION_MAX_AGE after `authTime`, so that deriving sessions does not extend a login. */
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
