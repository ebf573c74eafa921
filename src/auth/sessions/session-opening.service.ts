import { Injectable } from '@nestjs/common';
import type { AuthenticationMethod, SignInOrigin, UserActor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { EventWithout } from '../../events/event-types.js';
import type { CodeOwner } from './authorization-codes.repository.js';
import type { TokenResult } from './sessions.responses.js';
import { TokenIssuer } from '../tokens/token-issuer.js';
import { PASSWORD_ALONE } from './alive.js';
import { LiveSessionsLimit } from './live-sessions-limit.js';
import { type Exchanger, type NewSession, SessionsRepository } from './sessions.repository.js';

export interface Login {
  user: { id: string; authEpoch: number };
  via: 'register' | 'login';
  refresh?: boolean;
  deviceName?: string;
  amr?: readonly AuthenticationMethod[];
  origin: SignInOrigin;
}

export interface PresentedCode {
  hash: string;
  by?: Exchanger;
}

export interface DelegatedSession extends NewSession {
  audience: string | null;
}

@Injectable()
export class SessionOpening {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly tokens: TokenIssuer,
    private readonly events: EventsRepository,
    private readonly limit: LiveSessionsLimit,
    private readonly env: Env,
  ) {}

  async open(
    transaction: Transaction,
    { user, via, refresh, deviceName, amr = PASSWORD_ALONE, origin }: Login,
    cause?: EventWithout<'actor', 'account.registered' | 'account.recovery_code_used'>,
  ): Promise<{ session: NewSession; actor: UserActor }> {
    const session = newSession(this.env, {
      userId: user.id,
      authEpoch: user.authEpoch,
      authTime: Date.now(),
      amr,
      refresh,
      deviceName,
      origin,
    });
    const { id: sessionId, userId } = session;
    const { requestId, address } = origin;
    const actor: UserActor = { kind: 'user', id: userId, sessionId, isDelegated: false, requestId, address };
    await this.sessions.insert(transaction, session);
    await this.events.record(transaction, ...(cause ? [{ ...cause, actor }] : []), {
      type: 'session.started',
      actor,
      userId,
      sessionId,
      data: { via },
    });
    return { session, actor };
  }

  /** Opens a session by a code. Returns undefined if it cannot open one, or has opened one before. */
  async openByCode(
    { hash, by }: PresentedCode,
    owner: CodeOwner,
    origin: SignInOrigin,
  ): Promise<DelegatedSession | undefined> {
    const session = newSession(this.env, { ...owner, origin });
    const isInTime = session.expiresAt > Date.now();
    if (!isInTime || !(await this.sessions.exchange(session, hash, by))) return undefined;
    return { ...session, audience: by && by.boundEpoch !== null ? by.service : null };
  }

  answer(session: NewSession | DelegatedSession): TokenResult {
    this.limit.noteOpened(session.userId);
    return this.tokens.issue(session, session.createdAt);
  }
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
