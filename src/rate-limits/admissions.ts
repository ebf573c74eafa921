import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimitDecided } from '../telemetry/metrics/measurements.js';
import { rateLimitHeaders, secondsOf } from './rate-limit-headers.js';
import { type NamedCounter, refusalOf } from './rate-limit-rules.js';
import type { Admission, Quota } from './rate-limit-store.js';
import { RateLimitedError } from './rate-limits.errors.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** set when limits apply to the request and admitted it */
    admission?: Admission & { counters: readonly NamedCounter[] };
  }
}

/**
 * @param userId whom the log line of a refused request names
 * @throws RateLimitedError if these limits refuse the request; the answer also names those that admitted it before
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

/** Names the limit with the longest wait. */
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
