import type { FastifyInstance } from 'fastify';

/** Names the user of a token that is given out. A symbol is never part of the answer's JSON. */
export const tokenUser = Symbol('user of the token');

declare module 'fastify' {
  interface FastifyRequest {
    signedInUserId?: string;
  }
}

// Gives the log line of the request the user, since the request came without a token that would say so. It is a hook,
// since an interceptor of Nest keeps a chain of RxJS objects for each request that waits for a hash.
export function noteSignedInUsers(fastify: FastifyInstance): void {
  fastify.decorateRequest('signedInUserId', undefined);
  fastify.addHook('preSerialization', (request, _reply, answer: { [tokenUser]?: string } | null, done) => {
    request.signedInUserId = answer?.[tokenUser];
    done(null, answer);
  });
}
