import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { AuthenticationMethod } from '../api.gen.ts';
import { type KeyToken, readClaims, type ServiceToken, type UserToken } from './claims.ts';
import type { KeySet } from './key-set.ts';
import { RecentlyUsed } from './recently-used.ts';

/** The tolerated difference of clocks, as in Accounts itself. */
const LEEWAY_SECONDS = 30;
const ALGORITHM = 'ES256';

const UNSEEN: Seen = { refusedAt: undefined, refusedUntil: 0, session: undefined, liveAt: undefined };

interface Seen {
  /** The position of the feed at which Accounts rejected the token. */
  refusedAt: number | undefined;
  /** The time until which the guard remembers it. */
  refusedUntil: number;
  /** The session of the token, and the position of the feed at which the session was live. */
  session: LiveSession | undefined;
  liveAt: number | undefined;
}

export type KnownUser = UserToken & Seen;
export type KnownToken = KnownUser | ((KeyToken | ServiceToken) & Seen);

/** A live session, as Accounts described it. */
export interface LiveSession {
  readAt: number;
  email: string;
  emailVerified: boolean;
  amr: readonly AuthenticationMethod[];
  authTime: number;
}

export interface Expected {
  issuer: string;
  audience: string | readonly string[];
  /** Name of the service, which is the audience of the tokens that clients hand off to it. */
  service: string;
}

/** The reason why a token is not valid, for the log. */
export class TokenRejection extends Error {
  /** Accounts signed the token, but this claim is not the one that the guard expects. */
  readonly claim: 'iss' | 'aud' | undefined;

  constructor(message: string, claim?: 'iss' | 'aud', cause?: unknown) {
    super(message, { cause });
    this.name = 'TokenRejection';
    this.claim = claim;
  }
}

/** Verifies signature, type, issuer, audience and times of tokens, and caches the valid ones. */
export class Tokens {
  private readonly known: RecentlyUsed<KnownToken>;
  private readonly keys: KeySet;
  private readonly expected: Expected;

  constructor(keys: KeySet, expected: Expected, limit: number) {
    this.keys = keys;
    this.expected = expected;
    this.known = new RecentlyUsed(limit);
  }

  /** Returns a token that was verified before and has not expired. */
  find(token: string): KnownToken | undefined {
    const known = this.known.get(token);
    if (known === undefined || known.claims.exp + LEEWAY_SECONDS > Date.now() / 1000) return known;
    this.known.delete(token);
    return undefined;
  }

  /** @throws Unavailable if the keys cannot be fetched */
  async verify(token: string): Promise<KnownToken | TokenRejection> {
    const kid = kidOf(token);
    const key = kid === undefined ? undefined : await this.keys.find(kid);
    if (key === undefined) return new TokenRejection('no key of Accounts signed the token');
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        typ: 'at+jwt',
        issuer: this.expected.issuer,
        audience: [this.expected.audience].flat(),
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ['sub', 'exp'],
      });
      const read = readClaims(payload);
      if (read === undefined) return new TokenRejection('Accounts issues no token with these claims');
      const known: KnownToken = { ...read, ...UNSEEN };
      this.known.set(token, known);
      return known;
    } catch (error) {
      if (error instanceof errors.JOSEError) return this.rejectionOf(error);
      throw error;
    }
  }

  /** The signature is verified before the claims. */
  private rejectionOf(error: errors.JOSEError): TokenRejection {
    if (error instanceof errors.JWTClaimValidationFailed && error.reason === 'check_failed') {
      const { issuer } = this.expected;
      const { iss, aud } = error.payload;
      if (error.claim === 'iss') {
        const message = `a token is issued by ${shown(iss)}, and the guard expects ${shown(issuer)}: compare its option issuer with JWT_ISSUER`;
        return new TokenRejection(message, 'iss', error);
      }
      if (error.claim === 'aud') return new TokenRejection(this.wrongAudience(aud), 'aud', error);
    }
    return new TokenRejection(error.message, undefined, error);
  }

  /** If the guard expects the name of its service, the client did not hand off its login, so the client is wrong. */
  private wrongAudience(aud: unknown): string {
    const { audience, service } = this.expected;
    return [audience].flat().includes(service)
      ? `a client sent a token for ${shown(aud)}, and not one for ${shown(audience)}: it has to hand off its login to ${shown(service)}`
      : `a token is for ${shown(aud)}, and the guard expects ${shown(audience)}: compare its option audience`;
  }

  forgetAll(): void {
    this.known.clear();
  }
}

function kidOf(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

const shown = (claim: unknown): string => JSON.stringify(claim);
