import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { feedState } from '../telemetry/metrics/measurements.js';
import { FeedNumbering, type Round } from './feed-numbering.js';

/** Each round costs the writers a commit, however many callers share it. A backlog is numbered without a pause. */
const INTERVAL_MS = 100;

/** The rounds of this process, one after another. Callers share a round that begins after they called. */
@Injectable()
export class FeedRounds {
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<Round> | undefined;
  private newest = 0;
  private nextAt = 0;
  /** everything committed before this moment is in the feed, as far as this process knows */
  private completeUpTo = performance.now();
  private readonly waiters = new Set<PromiseWithResolvers<void>>();

  constructor(private readonly numbering: FeedNumbering) {
    feedState.provide(() => ({
      lagSeconds: (performance.now() - this.completeUpTo) / 1000,
      waiters: this.waiters.size,
    }));
  }

  /** the greatest number of the feed, as of the latest round */
  get last(): number {
    return this.newest;
  }

  get isAwaited(): boolean {
    return this.waiters.size > 0;
  }

  begin(): Promise<Round> {
    return (this.next ??= this.afterRunning());
  }

  /** Waits until a round ends with another number than `last`, or until the signal. Throws if a round fails. */
  async another(last: number, until: AbortSignal): Promise<void> {
    if (until.aborted || this.newest !== last) return;
    const waiter = Promise.withResolvers<void>();
    const end = (): void => waiter.resolve();
    this.waiters.add(waiter);
    until.addEventListener('abort', end, { once: true });
    try {
      await waiter.promise;
    } finally {
      this.waiters.delete(waiter);
      until.removeEventListener('abort', end);
    }
  }

  private async afterRunning(): Promise<Round> {
    await this.running;
    const pauseMs = this.nextAt - performance.now();
    // SQLite answers within a turn of the event loop: without a pause no other work would run.
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
      const isNew = round.last !== this.newest;
      this.newest = round.last;
      if (isNew) for (const waiter of this.waiters) waiter.resolve();
      return round;
    } catch (error) {
      for (const waiter of this.waiters) waiter.reject(error);
      throw error;
    }
  }
}

const TICK_MS = 200;
const IDLE_MS = 1000;

/** Makes rounds while the process runs: often if a request waits for events, seldom otherwise. */
@Injectable()
export class FeedPoller implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Feed');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private begunAt = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  private stopped = false;

  constructor(private readonly rounds: FeedRounds) {}

  /** Adds jitter, so that instances do not number at the same moments. */
  start(): void {
    if (this.stopped) return;
    this.timer = setTimeout(
      () => {
        this.running = this.tick();
      },
      TICK_MS * (0.75 + Math.random() / 2),
    );
    this.timer.unref();
  }

  beforeApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  onApplicationShutdown(): Promise<void> {
    return this.running;
  }

  private async tick(): Promise<void> {
    const now = performance.now();
    if (this.rounds.isAwaited || now - this.begunAt >= IDLE_MS) {
      this.begunAt = now;
      await this.poll();
    }
    this.start();
  }

  private async poll(): Promise<void> {
    try {
      for (let mayHaveMore = true; mayHaveMore && !this.stopped;) {
        ({ mayHaveMore } = await this.rounds.begin());
      }
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed) this.logger.warn({ msg: 'cannot number events; retrying', err: error });
      this.hasFailed = true;
    }
  }
}
