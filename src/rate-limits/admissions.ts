import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problems/problem.js';
import type { Admission, Counter, Quota } from './rate-limit-store.js';
import { rateLimitDecided } from '../telemetry/metrics/measurements.js';
import { isCounted, type NamedCounter, refusalOf } from './rate-limit-rules.js';

export class RateLimitedError extends Problem {
  constructor(
    detail: string,
    retryAfterSeconds: number,
    logged: { limit?: string; userId?: string | undefined } = {},
  ) {
    super('rate_limited', { detail, headers: { 'Retry-After': String(retryAfterSeconds) }, ...logged });
  }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Follows draft-ietf-httpapi-ratelimit-headers: two RFC 9651 lists with an item for each limit. */
function rateLimitHeaders(
  counters: readonly Counter[],
  quotas: readonly Quota[],
): { 'RateLimit-Policy': string; RateLimit: string } {
  return {
    'RateLimit-Policy': counters
      .map(({ name, limit, windowMs }) => `"${name}";q=${limit};w=${windowMs / 1000}`)
      .join(', '),
    RateLimit: quotas
      .map(({ remaining, resetMs }, i) => `"${counters[i]!.name}";r=${remaining};t=${secondsOf(resetMs)}`)
      .join(', '),
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    admission?: Admission & { counters: readonly NamedCounter[] };
  }
}

/**
 * @throws RateLimitedError if these limits refuse the request; the answer also names the limits that admitted it
 * before
 */
export function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  counters: readonly NamedCounter[],
  admission: Admission,
  userId?: string,
): void {
  const { admission: before } = request;
  const all = {
    ...admission,
    counters: [...(before?.counters ?? []), ...counters],
    quotas: [...(before?.quotas ?? []), ...admission.quotas],
  };
  reply.headers(rateLimitHeaders(all.counters, all.quotas));
  reportDecisions(counters, admission);
  if (!admission.admitted) throw refusal(counters, admission.quotas, userId);
  request.admission = all;
}

/** Skips a limit that still had quota when another refused: it has decided nothing. */
function reportDecisions(counters: readonly NamedCounter[], { admitted, quotas }: Admission): void {
  const decision = admitted ? 'admitted' : 'refused';
  counters.forEach(({ name }, i) => {
    if (admitted || quotas[i]!.remaining === 0) rateLimitDecided.emit({ limit: name, decision });
  });
}

function refusal(
  counters: readonly NamedCounter[],
  quotas: readonly Quota[],
  userId: string | undefined,
): RateLimitedError {
  const [longest] = counters
    .map(({ name }, i) => ({ name, ...quotas[i]! }))
    .filter(({ remaining }) => remaining === 0)
    .toSorted((a, b) => b.resetMs - a.resetMs);
  const { name: limit, resetMs } = longest!;
  return new RateLimitedError(refusalOf(limit), secondsOf(resetMs), { limit, userId });
}

/** Runs in the background: an answer that waited for it could meet that of the deadline. */
export function giveBackUncounted(fastify: FastifyInstance): void {
  fastify.decorateRequest('admission', undefined);
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const { admission, problem } = request;
    if (!admission) return done();
    const { counters, quotas } = admission;
    const uncounted = counters.filter((one) => !isCounted(one, reply.statusCode, problem?.code));
    if (uncounted.length === 0) return done();
    request.admission = undefined;
    void admission.giveBack(uncounted);
    const left = quotas.map(({ remaining, resetMs }, i) => ({
      remaining: uncounted.includes(counters[i]!) ? remaining + 1 : remaining,
      resetMs,
    }));
    reply.headers(rateLimitHeaders(counters, left));
    done();
  });
}
