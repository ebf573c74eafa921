/** What one run of one operation against one server came to. Times are milliseconds. */
export interface Measured {
  requests: number;
  requestsPerSecond: number;
  p50: number;
  p99: number;
}

export function measured(latencies: number[], elapsedMs: number): Measured {
  const sorted = Float64Array.from(latencies).toSorted();
  return {
    requests: sorted.length,
    requestsPerSecond: (sorted.length / elapsedMs) * 1000,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
  };
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
