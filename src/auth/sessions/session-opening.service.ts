import { Injectable } from '@nestjs/common';
import type { SignInOrigin, UserActor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { EventWithout } from '../../events/event-types.js';
import type { CodeOwner } from './authorization-codes.repository.js';
import type { TokenResponse } from './sessions.responses.js';
import { type IssuingSession, TokenIssuer } from '../tokens/token-issuer.js';
import type { LoginMethods } from '../tokens/access-token.js';
import { endOfLogin } from './session.entity.js';
import { LiveSessionsLimit } from './live-sessions-limit.js';
import { type NewSession, type PresentedCode, SessionsRepository } from './sessions.repository.js';

interface SessionStart {
  userId: string;
  authEpoch: number;
  authTime?: number;
  amr?: LoginMethods;
  /** the name of the provider that confirmed the login */
  provider?: string;
  endsAt?: number | null;
  refresh?: boolean;
  deviceName?: string;
  origin: SignInOrigin;
}

export type Login = SessionStart & { via: 'register' | 'login'; newDevice?: boolean };

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
    tx: Transaction,
    { via, newDevice = false, ...start }: Login,
    causes: readonly EventWithout<'actor'>[],
  ): Promise<{ session: NewSession; actor: UserActor }> {
    const session = this.newSession(start);
    const { id: sessionId, userId } = session;
    const { provider } = start;
    const { requestId, address } = start.origin;
    const actor: UserActor = { kind: 'user', id: userId, sessionId, isDelegated: false, requestId, address };
    await this.sessions.insert(tx, session);
    await this.events.record(tx, ...causes.map((cause) => ({ ...cause, actor })), {
      type: 'session.started',
      actor,
      userId,
      sessionId,
      data: { via, ...(newDevice && { newDevice }), ...(provider !== undefined && { provider }) },
    });
    return { session, actor };
  }

  /** Returns undefined if the code cannot open a session or has opened one. */
  async openByCode(
    code: PresentedCode,
    owner: CodeOwner,
    origin: SignInOrigin,
  ): Promise<TokenResponse | undefined> {
    const session = this.newSession({ ...owner, origin });
    const isInTime = session.expiresAt > Date.now();
    if (!isInTime || !(await this.sessions.exchange(session, code))) return undefined;
    const { loginId, branchId } = owner;
    return this.answer(session, {
      audience: code.boundEpoch === null ? null : code.service,
      loginId,
      branchId,
    });
  }

  answer(
    session: NewSession,
    delegation?: Pick<IssuingSession, 'audience' | 'loginId' | 'branchId'>,
  ): TokenResponse {
    this.limit.noteOpened(session.userId);
    return this.tokens.issue({ ...session, ...delegation }, session.createdAt);
  }

  /** One-time codes do not extend a login. */
  private newSession(start: SessionStart): NewSession {
    const { userId, authEpoch, amr = 'pwd', refresh = false, deviceName = null, origin } = start;
    const { provider = null, endsAt = null } = start;
    const createdAt = Date.now();
    const authTime = start.authTime ?? createdAt;
    const lifetime = refresh ? this.env.sessionIdle : this.env.tokenTtl;
    return {
      id: newEntityId(),
      userId,
      authEpoch,
      authTime,
      amr,
      createdAt,
      expiresAt: Math.min(
        createdAt + lifetime * 1000,
        endOfLogin({ authTime, endsAt }, this.env.sessionMaxAge),
      ),
      refreshGeneration: refresh ? 1 : 0,
      ip: origin.address,
      userAgent: origin.userAgent,
      deviceName,
      provider,
      endsAt,
    };
  }
}
