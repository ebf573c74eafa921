import { EventEmitter, once } from 'node:events';
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { feedState } from '../telemetry/metrics/measurements.js';
import { FeedNumbering, type Round } from './feed-numbering.js';

const INTERVAL_MS = 100;
const IDLE_MS = 1000;

/** Runs rounds one after another. Callers share the next round that begins after their call. */
@Injectable()
export class FeedRounds implements BeforeApplicationShutdown {
  readonly stopping = new AbortController();
  private polledAt = Number.NEGATIVE_INFINITY;
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<Round> | undefined;
  last = 0;
  private nextAt = 0;
  /** As far as this process knows, the feed has everything that was committed before this moment. */
  private completeUpTo = performance.now();
  private readonly ends = new EventEmitter<{ new: []; error: [unknown] }>().setMaxListeners(0);

  constructor(private readonly numbering: FeedNumbering) {
    feedState.read = () => ({
      lagSeconds: (performance.now() - this.completeUpTo) / 1000,
      waiters: this.ends.listenerCount('new'),
    });
  }

  beforeApplicationShutdown(): void {
    this.stopping.abort();
  }

  begin(): Promise<Round> {
    return (this.next ??= this.afterRunning());
  }

  /** Waits until a round ends with a number other than `last`, or until the signal. Throws if a round fails. */
  async another(last: number, until: AbortSignal): Promise<void> {
    if (until.aborted || this.last !== last) return;
    await once(this.ends, 'new', { signal: until }).catch((error: unknown) => {
      if (!until.aborted) throw error;
    });
  }

  private async afterRunning(): Promise<Round> {
    await this.running;
    const pauseMs = this.nextAt - performance.now();
    // SQLite answers within a turn of the event loop, so without a pause no other work would run.
    await (pauseMs > 0 ? sleep(pauseMs) : yieldToEventLoop());
    this.next = undefined;
    const round = this.run();
    this.running = round.catch(() => undefined);
    return round;
  }

  private async run(): Promise<Round> {
    const begun = performance.now();
    this.nextAt = begun + INTERVAL_MS;
    try {
      const round = await this.numbering.round();
      if (round.mayHaveMore) this.nextAt = 0;
      else this.completeUpTo = begun;
      const isNew = round.last !== this.last;
      this.last = round.last;
      if (isNew) this.ends.emit('new');
      return round;
    } catch (error) {
      if (this.ends.listenerCount('error') > 0) this.ends.emit('error', error);
      throw error;
    }
  }

  isDue(): boolean {
    return this.ends.listenerCount('new') > 0 || performance.now() - this.polledAt >= IDLE_MS;
  }

  async numberAll(): Promise<void> {
    this.polledAt = performance.now();
    for (let mayHaveMore = true; mayHaveMore && !this.stopping.signal.aborted;) {
      ({ mayHaveMore } = await this.begin());
    }
  }
}
