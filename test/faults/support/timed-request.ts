import type { Reply, RequestOptions, Send } from '../../support/service-client.js';
import type { Answered } from './invariants.js';

export interface TimedReply {
  /** undefined: no answer came, for the reason that `error` is */
  reply: Reply | undefined;
  error?: unknown;
  answered: Answered;
}

export async function timed(
  send: Send,
  method: string,
  path: string,
  options: RequestOptions,
): Promise<TimedReply> {
  const startedAt = performance.now();
  const result = await send(method, path, options).then(
    (reply) => ({ reply }),
    (error: unknown) => ({ reply: undefined, error }),
  );
  const { status, retryAfter } = result.reply ?? { status: undefined, retryAfter: null };
  return { ...result, answered: { status, retryAfter, startedAt, endedAt: performance.now() } };
}
