/** `ok`: done and said so. `refused`: not done and said so. `unknown`: no answer, or one that leaves it open. */
export type Outcome = 'ok' | 'refused' | 'unknown';

export interface Answer {
  outcome: Outcome;
  /** What is counted in `tally`: a status, an error code, the name of a request. */
  label: string;
}

export interface Entry extends Answer {
  worker: number;
  /** Milliseconds since the load began. */
  startedAt: number;
  endedAt: number;
}

export type Step = (worker: number, turn: number, signal: AbortSignal) => Promise<Answer>;

/** Everything that was asked and answered during a load, in the order in which it ended. */
export class History {
  readonly entries: Entry[] = [];
  private readonly begin = performance.now();

  now(): number {
    return performance.now() - this.begin;
  }

  async record(worker: number, request: () => Promise<Answer>): Promise<Answer> {
    const startedAt = this.now();
    const answer = await request().catch((error: unknown): Answer => ({
      outcome: 'unknown',
      label: nameOf(error),
    }));
    this.entries.push({ ...answer, worker, startedAt, endedAt: this.now() });
    return answer;
  }

  durations(among: (entry: Entry) => boolean = () => true): number[] {
    return this.entries.filter(among).map((entry) => entry.endedAt - entry.startedAt);
  }

  tally(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { outcome, label } of this.entries) {
      const key = `${outcome} ${label}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  /** Milliseconds from `since` (of this history's clock) until a request that began after it was answered `ok`. */
  recoveryTime(since: number): number | undefined {
    const good = this.entries.filter((entry) => entry.outcome === 'ok' && entry.startedAt >= since);
    return good.length === 0 ? undefined : Math.min(...good.map((entry) => entry.endedAt)) - since;
  }

  /** The longest time between the ends of two requests that were answered `ok`. */
  longestGap(): number {
    let longest = 0;
    let last: number | undefined;
    for (const { outcome, endedAt } of this.entries) {
      if (outcome !== 'ok') continue;
      if (last !== undefined) longest = Math.max(longest, endedAt - last);
      last = endedAt;
    }
    return longest;
  }
}

/** Runs `workers` loops of `step` until the signal; resolves when the last step of each has been answered. */
export async function loadUntil(
  signal: AbortSignal,
  workers: number,
  step: Step,
  history = new History(),
): Promise<History> {
  const loop = async (worker: number): Promise<void> => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      await history.record(worker, () => step(worker, turn, signal));
      // A step that fails at once must not keep the event loop to itself.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => loop(worker)));
  return history;
}

/** Load beside `faults`, and until it has ended. */
export async function loadDuring(
  workers: number,
  step: Step,
  faults: (history: History) => Promise<void>,
): Promise<History> {
  const history = new History();
  const end = new AbortController();
  const load = loadUntil(end.signal, workers, step, history);
  try {
    await faults(history);
  } finally {
    end.abort();
    await load;
  }
  return history;
}

/** Starts `count` actions at one moment, when all of them stand ready; gives every result, also the failures. */
export async function allAtOnce<T>(
  count: number,
  action: (index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const actions = Array.from({ length: count }, async (_, index) => {
    await gate;
    return action(index);
  });
  setImmediate(open);
  return Promise.allSettled(actions);
}

/** The value that `share` (0 to 1) of the values do not exceed (nearest rank); NaN for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** Which writes a client was told of, to be compared with what is there in the end (I5 and I6). */
export class WriteLedger<K> {
  private readonly writes = new Map<K, Outcome>();

  /** To be called before the write is sent: one that is never answered stays unknown. */
  sent(key: K): void {
    this.writes.set(key, 'unknown');
  }

  answered(key: K, outcome: Outcome): void {
    this.writes.set(key, outcome);
  }

  keys(outcome: Outcome): K[] {
    return [...this.writes].filter(([, is]) => is === outcome).map(([key]) => key);
  }

  compare(present: ReadonlySet<K>): LedgerReport<K> {
    const unknown = this.keys('unknown');
    return {
      acknowledged: this.keys('ok').length,
      lost: this.keys('ok').filter((key) => !present.has(key)),
      ghosts: this.keys('refused').filter((key) => present.has(key)),
      unknownApplied: unknown.filter((key) => present.has(key)).length,
      unknownAbsent: unknown.filter((key) => !present.has(key)).length,
    };
  }
}

export interface LedgerReport<K> {
  acknowledged: number;
  /** Acknowledged and not there: must be empty. */
  lost: K[];
  /** Refused and there all the same: must be empty. */
  ghosts: K[];
  unknownApplied: number;
  unknownAbsent: number;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause;
  const code: unknown =
    'code' in error ? error.code : cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : error.message;
}
