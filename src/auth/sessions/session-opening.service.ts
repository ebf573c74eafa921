import { Injectable } from '@nestjs/common';
import type { AuthenticationMethod, SignInOrigin, UserActor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { EventWithout, NewEvent } from '../../events/event-types.js';
import { AuthorizationCodesRepository, type CodeOwner } from './authorization-codes.repository.js';
import type { TokenResult } from './sessions.responses.js';
import { SessionTokens } from './session-tokens.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { PASSWORD_ALONE } from './alive.js';
import { LiveSessionsLimit } from './live-sessions-limit.js';
import { type NewSession, newSession } from './new-session.js';
import { type Exchanger, SessionsRepository } from './sessions.repository.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

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
  /** the one service for which the code was; null for a plain code */
  audience: string | null;
}

/** Everything by which a session begins, or continues where all others end. */
@Injectable()
export class SessionOpening {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly ofUsers: UserSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly tokens: SessionTokens,
    private readonly events: EventsRepository,
    private readonly limit: LiveSessionsLimit,
    private readonly env: Env,
  ) {}

  /** Opens a login by password. @param cause what the transaction has done, to be recorded first */
  async open(
    transaction: Transaction,
    login: Login,
    cause?: EventWithout<'actor', 'account.registered' | 'account.recovery_code_used'>,
  ): Promise<{ session: NewSession; actor: UserActor }> {
    const { session, actor, started } = this.begin(login);
    await this.sessions.insert(transaction, [session]);
    await this.events.record(transaction, ...(cause ? [{ ...cause, actor }] : []), started);
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

  /**
   * Takes the acting session into the epoch that the transaction has begun. Its codes are void, as all others are.
   * @param amr how it counts from now on, if that changes
   */
  async keep(
    transaction: Transaction,
    { id, sessionId }: UserActor,
    amr?: readonly AuthenticationMethod[],
  ): Promise<void> {
    const kept = await this.ofUsers.keep(transaction, id, sessionId, amr);
    if (!kept) throw new InvalidTokenError('session_ended');
    await this.codes.deleteOfSessions(transaction, [sessionId]);
  }

  /** Answers with the tokens of a session that was committed, and counts it. */
  answer(session: NewSession | DelegatedSession): TokenResult {
    this.limit.noteOpened(session.userId);
    return this.tokens.of(session, session.createdAt);
  }

  private begin({ user, via, refresh, deviceName, amr = PASSWORD_ALONE, origin }: Login): {
    session: NewSession;
    actor: UserActor;
    started: NewEvent;
  } {
    const { id: userId, authEpoch } = user;
    const session = newSession(this.env, {
      userId,
      authEpoch,
      authTime: Date.now(),
      amr,
      refresh,
      deviceName,
      origin,
    });
    const { id: sessionId } = session;
    const { requestId, address } = origin;
    const actor: UserActor = { kind: 'user', id: userId, sessionId, isDelegated: false, requestId, address };
    return { session, actor, started: { type: 'session.started', actor, userId, sessionId, data: { via } } };
  }
}
