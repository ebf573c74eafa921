/** Upper bounds in seconds. A check that is undecided after 10 seconds is answered 503. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const OPERATIONS: Readonly<Record<string, string>> = {
  '/.well-known/jwks.json': 'keys',
  '/api/auth/config': 'config',
  '/api/auth/introspect': 'introspect',
  '/api/auth/code/exchange': 'exchange',
  '/api/auth/token': 'token',
  '/api/memberships': 'memberships',
  '/api/events': 'events',
};

/** Counts what the sidecar does, and writes it in the text format of Prometheus. */
export class Metrics {
  waitingChecks = 0;
  private readonly version: string;
  private readonly checks = new Map<number, number>();
  private readonly requests = new Map<string, number>();
  private readonly buckets = BOUNDS.map(() => 0);
  private count = 0;
  private seconds = 0;
  private events = 0;

  constructor(version: string) {
    this.version = version;
  }

  noteCheck(status: number, ms: number): void {
    const seconds = ms / 1000;
    this.checks.set(status, (this.checks.get(status) ?? 0) + 1);
    this.count += 1;
    this.seconds += seconds;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    if (bucket !== -1) this.buckets[bucket]! += 1;
  }

  noteEvent(): void {
    this.events += 1;
  }

  /** Counts the requests of the guard to Accounts. */
  readonly fetch: typeof fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const path = Object.keys(OPERATIONS).find((known) => pathname.endsWith(known));
    const operation = path === undefined ? 'other' : OPERATIONS[path]!;
    try {
      const response = await fetch(input, init);
      this.noteRequest(operation, String(response.status));
      return response;
    } catch (error) {
      this.noteRequest(operation, init?.signal?.aborted ? 'aborted' : 'unreachable');
      throw error;
    }
  };

  private noteRequest(operation: string, outcome: string): void {
    const labels = `operation="${operation}",outcome="${outcome}"`;
    this.requests.set(labels, (this.requests.get(labels) ?? 0) + 1);
  }

  text(isCurrent: boolean): string {
    const { user, system } = process.cpuUsage();
    let below = 0;
    const seconds = BOUNDS.map((bound, place) => {
      below += this.buckets[place]!;
      return `accounts_guard_check_seconds_bucket{le="${bound}"} ${below}`;
    });
    const checks = [...this.checks].map(
      ([status, count]) => `accounts_guard_checks_total{status="${status}"} ${count}`,
    );
    const requests = [...this.requests].map(
      ([labels, count]) => `accounts_guard_accounts_requests_total{${labels}} ${count}`,
    );
    return [
      ...described('accounts_guard_checks_total', 'counter', 'Checks by the status of the answer.'),
      ...checks,
      ...described('accounts_guard_check_seconds', 'histogram', 'Duration of checks in seconds.'),
      ...seconds,
      `accounts_guard_check_seconds_bucket{le="+Inf"} ${this.count}`,
      `accounts_guard_check_seconds_sum ${this.seconds}`,
      `accounts_guard_check_seconds_count ${this.count}`,
      ...gauge('accounts_guard_current', 'Whether the guard can decide now.', Number(isCurrent)),
      ...described('accounts_guard_events_total', 'counter', 'Events of the feed that the guard applied.'),
      `accounts_guard_events_total ${this.events}`,
      ...described('accounts_guard_accounts_requests_total', 'counter', 'Requests to Accounts.'),
      ...requests,
      ...gauge('accounts_guard_waiting_checks', 'Checks that are not answered yet.', this.waitingChecks),
      ...described('accounts_guard_build_info', 'gauge', 'Version of the sidecar.'),
      `accounts_guard_build_info{version="${this.version}"} 1`,
      ...gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', process.memoryUsage.rss()),
      ...described('process_cpu_seconds_total', 'counter', 'CPU time in seconds.'),
      `process_cpu_seconds_total ${(user + system) / 1e6}`,
      '',
    ].join('\n');
  }
}

const described = (name: string, type: string, help: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const gauge = (name: string, help: string, value: number): string[] => [
  ...described(name, 'gauge', help),
  `${name} ${value}`,
];
