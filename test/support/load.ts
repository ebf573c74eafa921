/**
 * `ok`: done and answered so. `refused`: not done and answered so. `unknown`: no answer, or an ambiguous one.
 */
export type Outcome = 'ok' | 'refused' | 'unknown';

export interface Answer {
  outcome: Outcome;
  /** What is counted in `tally`: a status, an error code, the name of a request. */
  label: string;
}

/** An answer that is 200 if nothing is wrong. */
export const answerOf = ({ status }: { status: number }): Answer => ({
  outcome: status === 200 ? 'ok' : 'refused',
  label: String(status),
});

export interface Entry extends Answer {
  worker: number;
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

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause;
  const code: unknown =
    'code' in error ? error.code : cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : error.message;
}
