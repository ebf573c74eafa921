import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { TooManyWaitError } from './events.errors.js';

/** of one service at one process */
const MAX_HELD = 20;

interface Hold {
  ms: number;
  /** ends the wait earlier: the client has left */
  signal: AbortSignal;
}

/** Bounds how many requests of a service wait, and how long: until time is up, their client leaves, or the process stops. */
@Injectable()
export class HeldRequests implements BeforeApplicationShutdown {
  private readonly held = new Map<string, number>();
  private readonly ends = new Set<AbortController>();
  private stopping = false;

  beforeApplicationShutdown(): void {
    this.stopping = true;
    for (const end of this.ends) end.abort();
  }

  /** @throws TooManyWaitError */
  async hold(
    service: string,
    { ms, signal }: Hold,
    work: (until: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (this.stopping || signal.aborted) return;
    const others = this.held.get(service) ?? 0;
    if (others >= MAX_HELD) throw new TooManyWaitError();
    this.held.set(service, others + 1);
    const end = new AbortController();
    const abort = (): void => end.abort();
    const timer = setTimeout(abort, ms);
    this.ends.add(end);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await work(end.signal);
    } finally {
      clearTimeout(timer);
      this.ends.delete(end);
      signal.removeEventListener('abort', abort);
      this.release(service);
    }
  }

  private release(service: string): void {
    const left = (this.held.get(service) ?? 1) - 1;
    if (left > 0) this.held.set(service, left);
    else this.held.delete(service);
  }
}
