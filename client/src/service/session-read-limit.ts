import { RecentlyUsed } from './recently-used.ts';

const READS = 5;
const WITHIN_MS = 1_000;
const SESSIONS = 10_000;

/**
 * A client can send any revision, even one that never comes. So one session causes at most five reads a second, and at most
 * five at once.
 */
export class SessionReadLimit {
  private readonly bySession = new RecentlyUsed<{ freeAt: number }[]>(SESSIONS);

  /** @returns a function to call at the end of the read, or undefined if the session has caused too many reads */
  begin(sessionId: string): (() => void) | undefined {
    const now = performance.now();
    const reads = (this.bySession.get(sessionId) ?? []).filter(({ freeAt }) => freeAt > now);
    if (reads.length >= READS) return undefined;
    const read = { freeAt: Number.POSITIVE_INFINITY };
    this.bySession.set(sessionId, [...reads, read]);
    return () => {
      read.freeAt = now + WITHIN_MS;
    };
  }
}
