import { FairSlots } from '../../database/transactions/fair-slots.js';
import { rootCause } from '../../telemetry/logging/logger.js';

/** Says in words of ours why there is no answer, without any value of it. */
export class UnusableAnswerError extends Error {}

export type ProviderRequest = (url: string, init: RequestInit) => Promise<Response>;

const REQUEST_MS = 3000;
/** With the request, it stays below the deadline of the route that starts a login. */
const MAX_WAIT_OF_SHARED_MS = 1000;
const MAX_BYTES = 262_144;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Metadata services of clouds speak http. */
export function isAllowedEndpoint(url: string, production: boolean): boolean {
  const { protocol, hostname } = URL.parse(url) ?? {};
  if (protocol === 'https:') return true;
  return !production && protocol === 'http:' && LOOPBACK.has(hostname!);
}

/** Everything that leaves the process for a provider. */
export class ProviderFetch {
  private readonly slots = new FairSlots({
    max: 16,
    maxOfKey: 12,
    maxWaiting: 1000,
    maxWaitMs: MAX_WAIT_OF_SHARED_MS,
    refuse: () => new UnusableAnswerError('too many requests to providers at once'),
  });

  constructor(private readonly production: boolean) {}

  /** For what concurrent logins share: all of them wait for it. */
  shared(issuer: string): ProviderRequest {
    return (url, init) => this.slots.run(issuer, () => this.send(url, init, REQUEST_MS), 'first');
  }

  /** @param deadline by `performance.now()` */
  until(deadline: number, issuer: string): ProviderRequest {
    const leftMs = (): number => Math.max(0, Math.ceil(deadline - performance.now()));
    return (url, init) => {
      const send = (): Promise<Response> => this.send(url, init, Math.min(REQUEST_MS, leftMs()));
      return this.slots.run(issuer, send, 'last', leftMs());
    };
  }

  /** Reads the whole body, which the time covers. A redirect could lead anywhere, so it is a failure. */
  private async send(url: string, init: RequestInit, timeoutMs: number): Promise<Response> {
    if (!isAllowedEndpoint(url, this.production)) throw new UnusableAnswerError('the endpoint is not https');
    if (timeoutMs === 0) throw new UnusableAnswerError('no answer in time');
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      const { status, headers, body } = response;
      if (status >= 300 && status < 400) {
        await body?.cancel();
        throw new UnusableAnswerError(`status ${status}`);
      }
      const bytes = body ? await readBounded(body) : [];
      return new Response(bytes.length > 0 ? Buffer.concat(bytes) : null, { status, headers });
    } catch (error) {
      if (error instanceof UnusableAnswerError) throw error;
      throw new UnusableAnswerError(signal.aborted ? 'no answer in time' : rootCause(error));
    }
  }
}

async function readBounded(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new UnusableAnswerError('more than 256 KiB');
    read.push(chunk);
  }
  return read;
}
