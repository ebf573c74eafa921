import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { isCounted, type NamedCounter } from './rate-limit-rules.js';
import type { Admission } from './rate-limit-store.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** set where limits apply to the request and admitted it */
    admission?: Admission & { counters: readonly NamedCounter[] };
  }
}

/** Gives an admitted request back to its limits when it is answered in a way that they do not count. */
export function giveBackUncounted(fastify: FastifyInstance): void {
  fastify.decorateRequest('admission', undefined);
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (request.admission === undefined || staysCounted(request, reply)) return done();
    return giveBack(request.admission, reply);
  });
}

function staysCounted({ admission, problemCode }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return admission!.counters.some((counter) => isCounted(counter, statusCode, problemCode));
}

async function giveBack(
  admission: NonNullable<FastifyRequest['admission']>,
  reply: FastifyReply,
): Promise<void> {
  reply.headers(rateLimitHeaders(admission.counters, await admission.giveBack()));
}
