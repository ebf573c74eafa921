import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import {
  AuthorizationCodesRepository,
  type CodeOwner,
  MAX_UNUSED_CODES,
} from './authorization-codes.repository.js';
import type { Origin, ServicePrincipal, SignInOrigin } from '../../access/principal.js';
import { mustVerifyEmail } from '../../access/route-access.js';
import { Env } from '../../config/env.js';
import { SessionRevocation } from './session-revocation.js';
import { SessionOpening } from './session-opening.service.js';
import { type PresentedCode, SessionsRepository } from './sessions.repository.js';
import { InvalidTokenError } from '../tokens/access-token.js';
import { TokenIssuer } from '../tokens/token-issuer.js';
import { Problem, ValidationProblem } from '../../problems/problem.js';
import { ShortCircuitResponse } from '../../requests/write.js';
import { ServicesRepository } from '../../services/services.repository.js';
import type { ExchangeCodeRequest, IssueCodeRequest } from './sessions.requests.js';
import type { CodeResponse, TokenResponse } from './sessions.responses.js';
import { timeText } from '../../identifiers/text.js';

class InvalidCodeError extends Problem {
  /** @param reason only logged; `unknown` includes a wrong verifier, `ended` includes void codes */
  constructor(reason: 'malformed' | 'unknown' | 'ended' | 'reused' | 'unverified') {
    super('invalid_code', { reason });
  }
}

const MAX_SESSIONS = 10_000;
const DELETE_AFTER_MS = 1000;

// Deletes void and used codes of sessions that issue many. It may be late: the exchange rejects void codes.
@Injectable()
export class UnusedCodesLimit implements OnApplicationShutdown {
  private readonly logger = new Logger('AuthorizationCodes');
  private readonly issued = new LRUCache<string, number>({ max: MAX_SESSIONS });
  private readonly due = new Set<string>();
  private deletions: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly codes: AuthorizationCodesRepository) {}

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.deletions;
  }

  noteIssued(sessionId: string): void {
    const issued = (this.issued.get(sessionId) ?? 0) + 1;
    const isMany = issued > MAX_UNUSED_CODES;
    this.issued.set(sessionId, isMany ? 0 : issued);
    if (isMany && !this.due.has(sessionId)) this.deleteLater(sessionId);
  }

  private deleteLater(sessionId: string): void {
    this.due.add(sessionId);
    setTimeout(() => {
      this.due.delete(sessionId);
      this.deletions = this.deletions.then(() => this.deleteUnneeded(sessionId));
    }, DELETE_AFTER_MS).unref();
  }

  private async deleteUnneeded(sessionId: string): Promise<void> {
    if (this.stopped) return;
    try {
      await this.codes.deleteUnneeded(sessionId);
    } catch (error) {
      this.logger.warn({ msg: 'unused codes could not be deleted; they will expire', err: error });
    }
  }
}

/** A code has 256 random bits (RFC 6749 section 10.10). */
const CODE_BYTES = 32;
const CODE = /^[\w-]{43}$/;

export function newCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url');
}

export function isCode(text: string): boolean {
  return CODE.test(text);
}

/** RFC 7636 section 4.6, method S256 */
export function challengeOf(codeVerifier: string): string {
  return createHash('sha256').update(codeVerifier).digest('base64url');
}

// Codes have full entropy, so one pass is enough (ASVS 6.5.2). A wrong challenge or audience finds no code.
export function hashCode(code: string, challenge = '', audience?: string): string {
  const mac = createHmac('sha256', code).update(challenge);
  if (audience !== undefined) mac.update('\0').update(audience);
  return mac.digest('base64url');
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
    private readonly tokens: TokenIssuer,
    private readonly env: Env,
  ) {}

  async issue(
    sessionId: string,
    { codeChallenge: challenge, audience }: IssueCodeRequest,
  ): Promise<CodeResponse> {
    if (audience === undefined) {
      if (this.env.codeAudience === 'required') throw new Problem('audience_required');
    } else if (!(await this.services.isEnabled(audience))) {
      throw new ValidationProblem([{ field: 'audience', message: 'must be the name of an enabled service' }]);
    }
    const code = newCode();
    this.limit.noteIssued(sessionId);
    const createdAt = Date.now();
    const expiresAt = createdAt + this.env.codeTtl * 1000;
    const hash = hashCode(code, challenge, audience);
    if (!(await this.codes.insert({ hash, sessionId, createdAt, expiresAt })))
      throw new InvalidTokenError('session_ended');
    return audience === undefined ? { code } : { code, expiresAt: timeText(expiresAt), audience };
  }

  // Reuse revokes the branch that the code opened (RFC 6749 section 4.1.2, ASVS 10.4.2); a wrong service finds no code.
  async exchange(
    request: ExchangeCodeRequest,
    service: ServicePrincipal | undefined,
    origin: SignInOrigin,
    key?: string,
  ): Promise<TokenResponse> {
    if (!isCode(request.code)) throw new InvalidCodeError('malformed');
    const readings = readingsOf(request, service, key);
    // One statement finds both.
    const owners = await Promise.all(readings.map(({ hash }) => this.codes.findOwner(hash)));
    for (const [index, presented] of readings.entries()) {
      const owner = owners[index];
      if (owner) return this.open(presented, owner, origin);
    }
    for (const presented of readings) await this.answerUsed(presented, origin);
    throw new InvalidCodeError('unknown');
  }

  private async open(
    presented: PresentedCode,
    owner: CodeOwner,
    origin: SignInOrigin,
  ): Promise<TokenResponse> {
    const isUnverified = mustVerifyEmail({ emailVerified: owner.emailVerifiedAt !== null }, this.env);
    const opened = !isUnverified && (await this.opening.openByCode(presented, owner, origin));
    if (opened) return opened;
    await this.answerUsed(presented, origin);
    throw new InvalidCodeError(isUnverified ? 'unverified' : 'ended');
  }

  /** @throws if the code has opened a session, whose token it repeats or whose branch it revokes */
  private async answerUsed({ hash, exchangeKey }: PresentedCode, origin: Origin): Promise<void> {
    const opened = await this.sessions.findOpenedBy(hash);
    if (!opened) return;
    const now = Date.now();
    // A clock that was set back makes the time negative.
    const isInTime = Math.abs(now - opened.createdAt) < this.env.codeTtl * 1000;
    if (exchangeKey !== null && exchangeKey === opened.exchangeKey && isInTime) {
      if (!opened.isAlive || opened.expiresAt <= now) throw new InvalidCodeError('ended');
      const answer = this.tokens.issue({ ...opened, refreshGeneration: 0 }, now);
      throw new ShortCircuitResponse(200, answer, { 'Idempotency-Replayed': 'true' });
    }
    this.logger.warn({ msg: 'one-time code reused', sessionId: opened.id });
    // Used codes are not secret, so a second reuse must be cheap.
    const actor = { kind: 'system', ...origin } as const;
    if (opened.branchRevokedAt === null)
      await this.revocation.revoke(opened.id, { actor, reason: 'code_reused' });
    throw new InvalidCodeError('reused');
  }
}

/** Nobody can compute it from a key without the code. */
function hashKey(code: string, service: string, key: string): string {
  return createHmac('sha256', code).update(['exchange', service, key].join('\0')).digest('base64url');
}

function readingsOf(
  { code, codeVerifier }: ExchangeCodeRequest,
  service: ServicePrincipal | undefined,
  key: string | undefined,
): PresentedCode[] {
  const challenge = codeVerifier === undefined ? undefined : challengeOf(codeVerifier);
  const exchangeKey = key === undefined ? null : hashKey(code, service?.name ?? '', key);
  const hash = hashCode(code, challenge);
  const plain = { hash, service: service?.name ?? null, boundEpoch: null, exchangeKey };
  if (service === undefined) return [plain];
  const bound = hashCode(code, challenge, service.name);
  return [{ ...plain, hash: bound, boundEpoch: service.epoch }, plain];
}
