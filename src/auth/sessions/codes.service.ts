import { createHash, createHmac, randomBytes } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { Origin, ServicePrincipal, SignInOrigin } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { SessionRevocation } from './session-revocation.js';
import { type DelegatedSession, type PresentedCode, SessionOpening } from './session-opening.service.js';
import { SessionsRepository } from './sessions.repository.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { AudienceRequiredError, InvalidCodeError, NO_SERVICE } from './sessions.errors.js';
import { UnusedCodesLimit } from './unused-codes-limit.js';
import { ValidationProblem } from '../../problems/problem.js';
import { ServicesRepository } from '../../services/services.repository.js';
import type { IssueCodeRequest } from './sessions.requests.js';
import type { BoundCodeResult, CodeResult, TokenResult } from './sessions.responses.js';

const CODE_BYTES = 32;
const CODE = /^[\w-]{43}$/;

/** A code has 256 random bits (RFC 6749 section 10.10). */
function newCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url');
}

function isCode(text: string): boolean {
  return CODE.test(text);
}

/** A code can be bound to more than the session that issued it. */
interface CodeBinding {
  /** challenge of a verifier (RFC 7636) */
  challenge?: string | undefined;
  /** name of the one service that may exchange the code */
  audience?: string | undefined;
}

// One pass of HMAC-SHA-256 is enough, since a code has full entropy (ASVS 6.5.2). An exchange
// without what the code is bound to computes another hash, and finds no code.
function hashCode(code: string, { challenge = '', audience }: CodeBinding = {}): string {
  const mac = createHmac('sha256', code).update(challenge);
  // Neither part can contain the separator.
  if (audience !== undefined) mac.update('\0').update(audience);
  return mac.digest('base64url');
}

/** RFC 7636 section 4.6, method S256 */
function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
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
    private readonly services: ServicesRepository,
    private readonly env: Env,
  ) {}

  /**
   * Checks whether the service is enabled for the client's sake: the exchange checks it again.
   *
   * @throws AudienceRequiredError, ValidationProblem
   * @throws InvalidTokenError when the session was revoked or deleted after the request began
   */
  async issue(
    sessionId: string,
    { codeChallenge: challenge, audience }: IssueCodeRequest,
  ): Promise<CodeResult | BoundCodeResult> {
    if (audience === undefined) {
      if (this.env.codeAudience === 'required') throw new AudienceRequiredError();
      const { code } = await this.insert(sessionId, { challenge });
      return { code };
    }
    if (!(await this.services.isEnabled(audience))) {
      throw new ValidationProblem([{ field: 'audience', message: NO_SERVICE }]);
    }
    const { code, expiresAt } = await this.insert(sessionId, { challenge, audience });
    return { code, expiresAt: new Date(expiresAt).toISOString(), audience };
  }

  // Reuse of a code revokes the whole branch of the session that it opened (RFC 6749 section 4.1.2, ASVS 10.4.2). Without
  // the right service, a code for one service is not found at all: it stays valid, and nothing is revoked.
  async exchange(exchange: CodeExchange, origin: SignInOrigin): Promise<TokenResult> {
    return this.opening.answer(await this.openSession(exchange, origin));
  }

  private async openSession(exchange: CodeExchange, origin: SignInOrigin): Promise<DelegatedSession> {
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

  private async insert(
    sessionId: string,
    binding: CodeBinding,
  ): Promise<{ code: string; expiresAt: number }> {
    const code = newCode();
    const now = Date.now();
    const createdAt = this.limit.noteIssued(sessionId, now);
    const expiresAt = now + this.env.codeTtl * 1000;
    const hash = hashCode(code, binding);
    if (!(await this.codes.insert({ hash, sessionId, createdAt, expiresAt })))
      throw new InvalidTokenError('session_ended');
    return { code, expiresAt };
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
