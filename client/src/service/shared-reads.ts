import type { Changes } from './changes.ts';
import { Unavailable } from './unavailable.ts';

const ATTEMPTS = 5;

type Read<Value> = (readAt: number) => Promise<Value>;

/** Shares reads of one key, and repeats a read if its subjects changed meanwhile. */
export class SharedReads<Value> {
  private readonly running = new Map<string, { begunAt: number; value: Promise<Value> }>();
  /** Each one begins when the running read of its key has ended. */
  private readonly following = new Map<string, Promise<Value>>();
  private readonly changes: Changes;

  constructor(changes: Changes) {
    this.changes = changes;
  }

  read(key: string, subjects: readonly string[], read: Read<Value>): Promise<Value> {
    const shared = this.running.get(key);
    if (shared) return shared.value;
    const value = this.untilUnchanged(subjects, read).finally(() => this.running.delete(key));
    this.running.set(key, { begunAt: performance.now(), value });
    return value;
  }

  isRunning(key: string): boolean {
    return this.running.has(key);
  }

  /** Returns a read that began after this time, so that it contains every change before it. */
  findSince(key: string, time: number): Promise<Value> | undefined {
    const running = this.running.get(key);
    return running && running.begunAt >= time ? running.value : this.following.get(key);
  }

  /** Begins a read when the running one has ended. */
  readNext(key: string, subjects: readonly string[], read: Read<Value>): Promise<Value> {
    const running = this.running.get(key);
    if (!running) return this.read(key, subjects, read);
    const next = running.value
      .catch(() => undefined)
      .then(() => {
        this.following.delete(key);
        return this.read(key, subjects, read);
      });
    this.following.set(key, next);
    return next;
  }

  private async untilUnchanged(subjects: readonly string[], read: Read<Value>): Promise<Value> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const readAt = this.changes.position;
      const value = await read(readAt);
      if (!this.changes.isVoid(readAt, ...subjects)) return value;
    }
    throw new Unavailable('the data changed during each read');
  }
}
