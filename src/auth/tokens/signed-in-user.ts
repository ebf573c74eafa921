import type { JwtService } from '@nestjs/jwt';
import type { FastifyInstance } from 'fastify';
import type { AccessTokenClaims } from './access-token.js';

declare module 'fastify' {
  interface FastifyRequest {
    signedInUserId?: string;
  }
}

// Notes for the log whom a new token is for, since the request came without one that would say so. It is a hook, since
// an interceptor of Nest keeps a chain of RxJS objects for each request that waits for a hash.
export function noteSignedInUsers(fastify: FastifyInstance, jwt: JwtService): void {
  fastify.decorateRequest('signedInUserId', undefined);
  fastify.addHook('preSerialization', (request, _reply, answer, done) => {
    if (hasToken(answer)) request.signedInUserId = jwt.decode<AccessTokenClaims>(answer.token).sub;
    done(null, answer);
  });
}

function hasToken(answer: unknown): answer is { token: string } {
  return (
    typeof answer === 'object' && answer !== null && 'token' in answer && typeof answer.token === 'string'
  );
}
