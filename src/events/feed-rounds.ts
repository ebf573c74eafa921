import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { feedState } from '../telemetry/metrics/measurements.js';
import { Numbering, type Round } from './feed-numbering.js';

/** Each round costs the writers a commit, however many ask for one. A backlog is numbered without a pause. */
const INTERVAL_MS = 100;

interface Waiter {
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** The rounds of this process, one after the other. Whoever asks shares one that begins after they asked. */
@Injectable()
export class Rounds {
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<Round> | undefined;
  private newest = 0;
  private nextAt = 0;
  /** everything committed before this moment is in the feed, as far as this process knows */
  private completeUpTo = performance.now();
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly numbering: Numbering) {
    feedState.provide(() => ({
      lagSeconds: (performance.now() - this.completeUpTo) / 1000,
      waiters: this.waiters.size,
    }));
  }

  /** the end of the feed as of the latest round */
  get last(): number {
    return this.newest;
  }

  get isAwaited(): boolean {
    return this.waiters.size > 0;
  }

  begin(): Promise<Round> {
    return (this.next ??= this.afterRunning());
  }

  /** Resolves when a round has another end of the feed than this one, or at `until`. Throws when a round fails. */
  async another(last: number, until: AbortSignal): Promise<void> {
    if (until.aborted || this.newest !== last) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { resolve, reject };
    const end = (): void => resolve();
    this.waiters.add(waiter);
    until.addEventListener('abort', end, { once: true });
    try {
      await promise;
    } finally {
      this.waiters.delete(waiter);
      until.removeEventListener('abort', end);
    }
  }

  private async afterRunning(): Promise<Round> {
    await this.running;
    const pauseMs = this.nextAt - performance.now();
    // On SQLite nothing else would get a turn.
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
      if (isNew) this.tell(({ resolve }) => resolve());
      return round;
    } catch (error) {
      this.tell(({ reject }) => reject(error));
      throw error;
    }
  }

  private tell(how: (waiter: Waiter) => void): void {
    for (const waiter of this.waiters) how(waiter);
  }
}
