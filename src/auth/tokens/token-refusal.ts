import { JsonWebTokenError, TokenExpiredError } from '@nestjs/jwt';
import type { TokenRefusal } from './tokens.errors.js';

export class UnknownKeyError extends Error {}

/** @param failure what Passport reports; nothing where the claims were refused */
export function tokenRefusal(failure: unknown): TokenRefusal {
  if (failure instanceof UnknownKeyError) return 'unknown_key';
  if (failure instanceof TokenExpiredError) return 'expired';
  if (failure instanceof JsonWebTokenError)
    return failure.message === 'invalid signature' ? 'signature' : 'claims';
  return failure instanceof Error ? 'malformed' : 'claims';
}
