import { percentile } from '../../tooling/percentile.ts';

/** The figures of one run of one operation against one server. Times are milliseconds. */
export interface Measured {
  requests: number;
  requestsPerSecond: number;
  p50: number;
  p99: number;
}

export function measured(latencies: number[], elapsedMs: number): Measured {
  return {
    requests: latencies.length,
    requestsPerSecond: (latencies.length / elapsedMs) * 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}
