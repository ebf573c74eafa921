import { setTimeout as sleep } from 'node:timers/promises';
import type { Env } from '../../config/env.js';
import { useSpanFactory } from './spans.js';

const FLUSH_TIMEOUT_MS = 1000;

/** Loads nothing if traces are off. The result sends the spans that are left, and never fails. */
export async function startTracing(env: Env): Promise<() => Promise<void>> {
  if (env.otlpEndpoint === undefined) return () => Promise.resolve();
  const { openTelemetry } = await import('./open-telemetry.js');
  const { provider, spans } = openTelemetry(env);
  useSpanFactory(spans);
  return async () => {
    const sent = provider.shutdown().catch(() => undefined);
    await Promise.race([sent, sleep(FLUSH_TIMEOUT_MS)]);
  };
}
