import type { ProblemOf } from '../results.ts';
import { pause } from '../waiting.ts';
import type { FeedEvent } from './applied-events.ts';
import type { GuardClient } from './bounded-calls.ts';

const PAGE = 1_000;
/**
 * A frozen instance neither responds nor closes its connections, so the guard notices it by a missing response only. A longer
 * wait would delay the switch to another instance beyond two seconds.
 */
const WAIT_SECONDS = 1;
/** How late a response may be. The guard waits longer for an instance that is slow but not frozen. */
const LEAST_MARGIN_MS = 700;
const MOST_MARGIN_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const WITHOUT_WAIT_PAUSE_MS = 1_000;
const NEVER = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

export type FeedProblem = ProblemOf<'listEvents'>;

export interface FeedListener {
  apply(event: FeedEvent): void;
  /** The guard may have missed events. */
  resync(): void;
  /** Called after each response. */
  onAnswer(): void;
  onProblem(problem: FeedProblem): void;
}

/** Follows the events of Accounts, and knows until when it has received all of them. */
export class Feed {
  /** Resolves when the first attempt is over. */
  readonly started: Promise<void>;
  problem: FeedProblem | undefined;
  private readonly running: Promise<void>;
  private readonly client: Pick<GuardClient, 'listEvents'>;
  private readonly listener: FeedListener;
  private readonly signal: AbortSignal;
  private readonly maxStalenessMs: number;
  private cursor: string | undefined;
  private wait = WAIT_SECONDS;
  private marginMs = MOST_MARGIN_MS;
  private currentAt = NEVER;

  constructor(
    client: Pick<GuardClient, 'listEvents'>,
    listener: FeedListener,
    signal: AbortSignal,
    maxStaleness: number,
  ) {
    this.client = client;
    this.listener = listener;
    this.signal = signal;
    this.maxStalenessMs = maxStaleness * 1000;
    const first = this.round();
    this.started = first.then(() => undefined);
    this.running = this.follow(first);
  }

  /** Uses two clocks: the monotonic clock stops while the computer sleeps, and the wall clock can be set. */
  isCurrent(): boolean {
    if (this.cursor === undefined || this.signal.aborted) return false;
    const { monotonic, wall } = this.currentAt;
    const silentMs = Math.max(performance.now() - monotonic, Date.now() - wall);
    return silentMs < this.maxStalenessMs;
  }

  async ended(): Promise<void> {
    await this.running;
  }

  private async follow(first: Promise<FeedProblem | undefined>): Promise<void> {
    let failures = 0;
    for (let round = first; ; round = this.round()) {
      const problem = await round;
      if (this.signal.aborted) return;
      this.problem = problem;
      failures = problem ? failures + 1 : 0;
      if (problem) {
        this.listener.onProblem(problem);
        const ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
        await pause(ms * (0.5 + Math.random() / 2), this.signal);
      } else if (this.wait === 0) await pause(WITHOUT_WAIT_PAUSE_MS, this.signal);
    }
  }

  private async round(): Promise<FeedProblem | undefined> {
    const requestedAt = { monotonic: performance.now(), wall: Date.now() };
    const { cursor, signal } = this;
    // After a failure the guard needs any response soon, and does not wait for an event.
    const wait = this.problem ? 0 : this.wait;
    const input = cursor === undefined ? {} : { after: cursor, wait, limit: PAGE };
    const timeoutMs = wait * 1000 + this.marginMs;
    const answer = await this.client.listEvents(input, { timeoutMs, signal, retries: 0 });
    if (!answer.ok) return this.failed(answer.problem);
    const { events, next } = answer.data;
    if (cursor === undefined) this.listener.resync();
    for (const event of events) this.listener.apply(event);
    this.cursor = next;
    // Only a page that is not full contains all events that were committed before the request.
    if (events.length < PAGE) this.currentAt = requestedAt;
    this.marginMs = within(2 * (performance.now() - requestedAt.monotonic - wait * 1000));
    this.listener.onAnswer();
    return undefined;
  }

  private failed(problem: FeedProblem): FeedProblem {
    if (problem.code === 'cursor_expired') this.cursor = undefined;
    if (problem.code === 'rate_limited') this.wait = 0;
    // The service was disabled or removed, or has no secret any longer.
    if (problem.code === 'invalid_client') this.currentAt = NEVER;
    if (problem.code === 'timed_out') this.marginMs = within(2 * this.marginMs);
    return problem;
  }
}

function within(marginMs: number): number {
  return Math.min(MOST_MARGIN_MS, Math.max(LEAST_MARGIN_MS, marginMs));
}
