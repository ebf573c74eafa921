import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Rounds } from './feed-rounds.js';

const TICK_MS = 200;
const IDLE_MS = 1000;

/** Makes rounds while the process runs: often while somebody waits, seldom otherwise. */
@Injectable()
export class FeedPoller implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Feed');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private begunAt = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  private stopped = false;

  constructor(private readonly rounds: Rounds) {}

  onApplicationBootstrap(): void {
    this.schedule();
  }

  beforeApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  onApplicationShutdown(): Promise<void> {
    return this.running;
  }

  /** Adds jitter, so that instances do not number at the same moments. */
  private schedule(): void {
    if (this.stopped) return;
    this.timer = setTimeout(
      () => {
        this.running = this.tick();
      },
      TICK_MS * (0.75 + Math.random() / 2),
    );
    this.timer.unref();
  }

  private async tick(): Promise<void> {
    const now = performance.now();
    if (this.rounds.isAwaited || now - this.begunAt >= IDLE_MS) {
      this.begunAt = now;
      await this.poll();
    }
    this.schedule();
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
