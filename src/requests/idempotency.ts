import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { stringify } from 'safe-stable-stringify';
import { ValidationProblem } from '../problems/problem.js';

export interface RequestKey {
  keyHash: string;
  fingerprint: string;
  isExpired?: boolean;
}

const MIN_SECRET_KEY_LENGTH = 16;
const SECRET_KEY_NEEDED = 'must be 16 to 255 visible ASCII characters';

const BARE = /^[\x21\x23-\x7e][\x21-\x7e]{0,254}$/;
const QUOTED = /^"(?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255}"$/;

export function parseKey(text: string): string | undefined {
  if (BARE.test(text)) return text;
  return QUOTED.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : undefined;
}

/** The key of an operation that keeps no answer and returns another token, so the key must not be guessed. */
export const SecretKey = createParamDecorator((_: unknown, context: ExecutionContext): string | undefined => {
  const header = context.switchToHttp().getRequest<FastifyRequest>().headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = typeof header === 'string' ? parseKey(header) : undefined;
  if (key === undefined || key.length < MIN_SECRET_KEY_LENGTH) {
    throw new ValidationProblem([{ field: 'Idempotency-Key', message: SECRET_KEY_NEEDED }]);
  }
  return key;
});

export function requestKey(key: string, { method, url, query, body }: FastifyRequest): RequestKey {
  const [path] = url.split('?', 1);
  // `stringify` sorts names, so their order makes no difference. acceptBodies limits the depth.
  return { keyHash: sha256(key), fingerprint: sha256(stringify([method, path, query, body])) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
