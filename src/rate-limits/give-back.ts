import type { FastifyInstance } from 'fastify';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { isCounted } from './rate-limit-rules.js';

/** Runs in the background: an answer that waited for it could meet that of the deadline. */
export function giveBackUncounted(fastify: FastifyInstance): void {
  fastify.decorateRequest('admission', undefined);
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const { admission, problem } = request;
    if (admission) {
      const { counters, quotas } = admission;
      const uncounted = counters.filter((one) => !isCounted(one, reply.statusCode, problem?.code));
      if (uncounted.length > 0) {
        request.admission = undefined;
        void admission.giveBack(uncounted);
        const left = quotas.map(({ remaining, resetMs }, i) => ({
          remaining: uncounted.includes(counters[i]!) ? remaining + 1 : remaining,
          resetMs,
        }));
        reply.headers(rateLimitHeaders(counters, left));
      }
    }
    done();
  });
}
