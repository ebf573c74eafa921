import type { AuthenticationMethod, SignInOrigin } from '../../access/principal.js';
import type { Env } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';

/** Times are epoch milliseconds. */
export interface NewSession {
  id: string;
  userId: string;
  authTime: number;
  amr: readonly AuthenticationMethod[];
  authEpoch: number;
  createdAt: number;
  expiresAt: number;
  refreshGeneration: number;
  ip: string;
  userAgent: string | null;
  deviceName: string | null;
}

interface SessionStart {
  userId: string;
  authEpoch: number;
  authTime: number;
  amr: readonly AuthenticationMethod[];
  refresh?: boolean;
  deviceName?: string;
  origin: SignInOrigin;
}

/** Sets the end at most SESSION_MAX_AGE after `authTime`, so that one-time codes do not extend a login. */
export function newSession(
  { tokenTtl, sessionIdle, sessionMaxAge }: Pick<Env, 'tokenTtl' | 'sessionIdle' | 'sessionMaxAge'>,
  { userId, authEpoch, authTime, amr, refresh = false, deviceName, origin }: SessionStart,
): NewSession {
  const createdAt = Date.now();
  const lifetime = refresh ? sessionIdle : tokenTtl;
  return {
    id: newEntityId(),
    userId,
    authEpoch,
    authTime,
    amr,
    createdAt,
    expiresAt: Math.min(createdAt + lifetime * 1000, authTime + sessionMaxAge * 1000),
    refreshGeneration: refresh ? 1 : 0,
    ip: origin.address,
    userAgent: origin.userAgent,
    deviceName: deviceName ?? null,
  };
}
