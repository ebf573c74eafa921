import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import type { KeySet } from './key-set.ts';
import { RecentlyUsed } from './recently-used.ts';

/** Clocks differ; Accounts itself allows as much. */
const LEEWAY_SECONDS = 30;
const ALGORITHM = 'ES256';

/** The claims of an access token. */
export interface TokenClaims extends JWTPayload {
  iss: string;
  aud: string;
  /** id of the user */
  sub: string;
  /** id of the session */
  sid: string;
  exp: number;
  client_id?: string;
  epoch?: number;
}

export interface KnownToken {
  claims: TokenClaims;
  /** Accounts has said that it is not active, which is final. */
  refused: boolean;
}

export interface Expected {
  issuer: string;
  audience: string | readonly string[];
}

/** Verifies signature, type, issuer, audience and times, and remembers the tokens that were right. */
export class Tokens {
  private readonly known: RecentlyUsed<KnownToken>;
  private readonly keys: KeySet;
  private readonly expected: Expected;

  constructor(keys: KeySet, expected: Expected, limit: number) {
    this.keys = keys;
    this.expected = expected;
    this.known = new RecentlyUsed(limit);
  }

  /** One that was verified before and has not expired. */
  find(token: string): KnownToken | undefined {
    const known = this.known.get(token);
    if (known === undefined || known.claims.exp + LEEWAY_SECONDS > Date.now() / 1000) return known;
    this.known.delete(token);
    return undefined;
  }

  /** @throws Unavailable where the keys cannot be fetched */
  async verify(token: string): Promise<KnownToken | undefined> {
    const kid = kidOf(token);
    const key = kid === undefined ? undefined : await this.keys.find(kid);
    if (key === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        typ: 'at+jwt',
        issuer: this.expected.issuer,
        audience: [this.expected.audience].flat(),
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ['sub', 'sid', 'exp'],
      });
      if (typeof payload.sub !== 'string' || typeof payload['sid'] !== 'string') return undefined;
      const known = { claims: payload as TokenClaims, refused: false };
      this.known.set(token, known);
      return known;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
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
