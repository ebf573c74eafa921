import type { Changes } from './changes.ts';
import { Unavailable } from './unavailable.ts';

const ATTEMPTS = 5;

/** Reads of the same thing are one, and what has changed during a read is read again. */
export class SharedReads<Value> {
  private readonly running = new Map<string, Promise<Value>>();
  private readonly changes: Changes;

  constructor(changes: Changes) {
    this.changes = changes;
  }

  read(key: string, subjects: readonly string[], read: (readAt: number) => Promise<Value>): Promise<Value> {
    const shared = this.running.get(key);
    if (shared) return shared;
    const own = this.untilUnchanged(subjects, read).finally(() => this.running.delete(key));
    this.running.set(key, own);
    return own;
  }

  private async untilUnchanged(
    subjects: readonly string[],
    read: (readAt: number) => Promise<Value>,
  ): Promise<Value> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const readAt = this.changes.position;
      const value = await read(readAt);
      if (!this.changes.isVoid(readAt, ...subjects)) return value;
    }
    throw new Unavailable('what is asked for changes all the time');
  }
}
