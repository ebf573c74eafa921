/** Upper bounds in seconds. A check that is undecided after 10 seconds is answered 503. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const OPERATION = /\/(jwks|config|introspect|exchange|token|memberships|events)(?:\.json)?$/;

/** Counts what the sidecar does, and writes it in the text format of Prometheus. */
export class Metrics {
  waitingChecks = 0;
  events = 0;
  /** By labels. */
  private readonly checks = new Map<string, number>();
  private readonly requests = new Map<string, number>();
  private readonly buckets = BOUNDS.map(() => 0);
  private count = 0;
  private seconds = 0;

  noteCheck(status: number, ms: number): void {
    increase(this.checks, `status="${status}"`);
    const seconds = ms / 1000;
    this.count += 1;
    this.seconds += seconds;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    if (bucket !== -1) this.buckets[bucket]! += 1;
  }

  /** Counts the requests of the guard to Accounts. */
  readonly fetch: typeof fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const operation = OPERATION.exec(pathname)?.[1] ?? 'other';
    let outcome = 'unreachable';
    try {
      const response = await fetch(input, init);
      outcome = String(response.status);
      return response;
    } finally {
      increase(this.requests, `operation="${operation}",outcome="${outcome}"`);
    }
  };

  text(version: string, isCurrent: boolean): string {
    const { user, system } = process.cpuUsage();
    const guard = 'accounts_guard';
    return [
      ...metric(`${guard}_checks_total`, 'counter', 'Checks by the status of the answer.', this.checks),
      ...this.histogram(`${guard}_check_seconds`),
      ...metric(`${guard}_current`, 'gauge', 'Whether the guard can decide now.', Number(isCurrent)),
      ...metric(`${guard}_events_total`, 'counter', 'Events that the guard applied.', this.events),
      ...metric(`${guard}_accounts_requests_total`, 'counter', 'Requests to Accounts.', this.requests),
      ...metric(`${guard}_waiting_checks`, 'gauge', 'Checks without an answer yet.', this.waitingChecks),
      ...metric(`${guard}_build_info`, 'gauge', 'Version.', new Map([[`version="${version}"`, 1]])),
      ...metric('process_resident_memory_bytes', 'gauge', 'Resident memory.', process.memoryUsage.rss()),
      ...metric('process_cpu_seconds_total', 'counter', 'CPU time.', (user + system) / 1e6),
      '',
    ].join('\n');
  }

  private histogram(name: string): string[] {
    let below = 0;
    const buckets = BOUNDS.map((bound, place): [string, number] => {
      below += this.buckets[place]!;
      return [`le="${bound}"`, below];
    });
    const [described, typed] = metric(name, 'histogram', 'Duration of checks.', 0);
    const lines = [...buckets, ['le="+Inf"', this.count] as const];
    return [
      described!,
      typed!,
      ...lines.map(([labels, count]) => `${name}_bucket{${labels}} ${count}`),
      `${name}_sum ${this.seconds}`,
      `${name}_count ${this.count}`,
    ];
  }
}

function increase(counts: Map<string, number>, labels: string): void {
  counts.set(labels, (counts.get(labels) ?? 0) + 1);
}

function metric(name: string, type: string, help: string, value: number | Map<string, number>): string[] {
  const samples =
    typeof value === 'number'
      ? [`${name} ${value}`]
      : [...value].map(([labels, count]) => `${name}{${labels}} ${count}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples];
}
