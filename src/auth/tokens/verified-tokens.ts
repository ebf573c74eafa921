import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type AccessTokenClaims, LEEWAY_SECONDS } from './access-token.js';

/** The cache takes about 8 MiB when full. */
const MAX_TOKENS = 10_000;

/** Spares clients that reuse a token the check of its signature, but not that of its session. */
@Injectable()
export class VerifiedTokens {
  private readonly claims = new LRUCache<string, AccessTokenClaims>({ max: MAX_TOKENS });

  find(token: string, nowSeconds = Date.now() / 1000): AccessTokenClaims | undefined {
    const claims = this.claims.get(token);
    if (claims === undefined || nowSeconds < claims.exp + LEEWAY_SECONDS) return claims;
    this.claims.delete(token);
    return undefined;
  }

  remember(token: string, claims: AccessTokenClaims): void {
    this.claims.set(token, claims);
  }

  /** Another key may verify from now on, or one may verify no more. */
  forgetAll(): void {
    this.claims.clear();
  }
}
