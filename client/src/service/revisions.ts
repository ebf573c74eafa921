import { RecentlyUsed } from './recently-used.ts';

interface Waiter {
  revision: number;
  settle: (isReached: boolean) => void;
}

/** The highest revision of each organization that the feed has reported. */
export class Revisions {
  private readonly seen: RecentlyUsed<number>;
  private readonly waiting = new Map<string, Set<Waiter>>();

  constructor(limit: number) {
    this.seen = new RecentlyUsed(limit);
  }

  has(orgId: string, revision: number): boolean {
    return (this.seen.get(orgId) ?? -1) >= revision;
  }

  /** Call it when every event of the organization up to this revision has been applied. */
  note(orgId: string, revision: number): void {
    if (this.has(orgId, revision)) return;
    this.seen.set(orgId, revision);
    for (const waiter of this.waiting.get(orgId) ?? []) {
      if (waiter.revision <= revision) waiter.settle(true);
    }
  }

  /** After a gap, such as a restore of Accounts, an organization may have a lower revision than before. */
  forgetAll(): void {
    this.seen.clear();
  }

  /** @returns whether the feed reported the revision within this time */
  wait(orgId: string, revision: number, ms: number): Promise<boolean> {
    return new Promise((done) => {
      const waiters = this.waiting.get(orgId) ?? new Set();
      const settle = (isReached: boolean): void => {
        clearTimeout(timer);
        waiters.delete(waiter);
        if (waiters.size === 0) this.waiting.delete(orgId);
        done(isReached);
      };
      const waiter = { revision, settle };
      const timer = setTimeout(() => settle(false), ms);
      this.waiting.set(orgId, waiters.add(waiter));
    });
  }
}
