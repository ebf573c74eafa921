import { Injectable, Logger } from '@nestjs/common';
import type { Origin, SignInOrigin } from '../../access/actor.js';
import type { ServicePrincipal } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { SessionRevocation } from '../sessions/session-revocation.js';
import {
  type DelegatedSession,
  type PresentedCode,
  SessionOpening,
} from '../sessions/session-opening.service.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { challengeOf, type CodeBinding, hashCode, isCode, newCode } from './code-text.js';
import { InvalidCodeError } from './codes.errors.js';
import { UnusedCodesLimit } from './unused-codes-limit.js';

export interface IssuedCode {
  code: string;
  /** epoch milliseconds */
  expiresAt: number;
}

export interface CodeExchange {
  code: string;
  codeVerifier?: string | undefined;
  /** the service whose credentials came with the request */
  service?: ServicePrincipal | undefined;
}

@Injectable()
export class CodesService {
  private readonly logger = new Logger('AuthorizationCodes');

  constructor(
    private readonly codes: AuthorizationCodesRepository,
    private readonly sessions: SessionsRepository,
    private readonly opening: SessionOpening,
    private readonly revocation: SessionRevocation,
    private readonly limit: UnusedCodesLimit,
    private readonly env: Env,
  ) {}

  /** @throws InvalidTokenError when the session was revoked or deleted after the request began */
  async issue(sessionId: string, binding: CodeBinding): Promise<IssuedCode> {
    const code = newCode();
    const now = Date.now();
    const createdAt = this.limit.noteIssued(sessionId, now);
    const expiresAt = now + this.env.codeTtl * 1000;
    const hash = hashCode(code, binding);
    if (!(await this.codes.insert({ hash, sessionId, createdAt, expiresAt })))
      throw new InvalidTokenError('session_ended');
    return { code, expiresAt };
  }

  // Reuse of a code revokes the whole branch of the session that it opened (RFC 6749 section 4.1.2, ASVS 10.4.2). Without
  // the right service, a code for one service is not found at all: it stays valid, and nothing is revoked.
  async exchange(exchange: CodeExchange, origin: SignInOrigin): Promise<DelegatedSession> {
    if (!isCode(exchange.code)) throw new InvalidCodeError('malformed');
    for (const presented of readingsOf(exchange)) {
      const owner = await this.codes.findOwner(presented.hash);
      const opened = owner && (await this.opening.openByCode(presented, owner, origin));
      if (opened) return opened;
      if (await this.revokeReusedSession(presented.hash, origin)) throw new InvalidCodeError('reused');
      if (owner) throw new InvalidCodeError('ended');
    }
    throw new InvalidCodeError('unknown');
  }

  private async revokeReusedSession(hash: string, origin: Origin): Promise<boolean> {
    const opened = await this.sessions.findOpenedBy(hash);
    if (!opened) return false;
    this.logger.warn({ msg: 'authorization code reused', sessionId: opened.id });
    // Used codes are no secrets, so repeating one must be cheap.
    if (opened.branchRevokedAt === null) {
      await this.revocation.revoke(opened, { actor: { kind: 'system', ...origin }, reason: 'code_reused' });
    }
    return true;
  }
}

/** Nothing tells whether a code is for one service: where a service asks, it may be for that one, or a plain code. */
function readingsOf({ code, codeVerifier, service }: CodeExchange): PresentedCode[] {
  const challenge = codeVerifier === undefined ? undefined : challengeOf(codeVerifier);
  const plain = hashCode(code, { challenge });
  if (service === undefined) return [{ hash: plain }];
  const bound = hashCode(code, { challenge, audience: service.name });
  return [
    { hash: bound, by: { service: service.name, boundEpoch: service.epoch } },
    { hash: plain, by: { service: service.name, boundEpoch: null } },
  ];
}
