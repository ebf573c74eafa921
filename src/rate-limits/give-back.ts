import type { FastifyInstance } from 'fastify';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { isCounted, type NamedCounter } from './rate-limit-rules.js';
import type { Admission } from './rate-limit-store.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** set when limits apply to the request and admitted it */
    admission?: Admission & { counters: readonly NamedCounter[] };
  }
}

/** In the background: an answer that waited for it could meet that of the deadline. */
export function giveBackUncounted(fastify: FastifyInstance): void {
  fastify.decorateRequest('admission', undefined);
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const { admission, problemCode } = request;
    if (admission && !admission.counters.some((one) => isCounted(one, reply.statusCode, problemCode))) {
      request.admission = undefined;
      void admission.giveBack();
      const quotas = admission.quotas.map(({ remaining, resetMs }) => ({
        remaining: remaining + 1,
        resetMs,
      }));
      reply.headers(rateLimitHeaders(admission.counters, quotas));
    }
    done();
  });
}
