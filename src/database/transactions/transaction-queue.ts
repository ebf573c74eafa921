import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { UnavailableError } from '../../problems/problem.js';
import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError } from './connection-limits.js';

export interface Turn {
  /** id of the user, else address of the client; undefined for the work of the service itself */
  principal?: string;
  /** id of the organization or the user whose row the work locks first */
  row?: string;
}

interface Waiter {
  principal: string;
  row: string | undefined;
  begin: () => void;
  refuse: (error: Error) => void;
}

type TurnRequest = Pick<Waiter, 'principal' | 'row'>;

interface Options {
  /** true where the database answers within the same turn of the event loop */
  yields?: boolean;
  maxWaiting?: number;
}

interface Held {
  connection: boolean;
  row: boolean;
}

const RETRY_AFTER_SECONDS = 1;

/** Bounds memory; most of so many would wait too long. */
const MAX_WAITING = 2000;

// Transactions wait here rather than in the database, where each would hold a connection. Principals are served
// round-robin, and none holds more than half of the connections, as one that is in use cannot be taken back. Work on
// the same row runs one after the other, so that none of it waits inside the database.
export class TransactionQueue {
  private running = 0;
  private waiting = 0;
  private readonly runningOf = new Map<string, number>();
  private readonly takenRows = new Set<string>();
  /** in round-robin order, the next principal first; no queue is empty */
  private readonly queues = new Map<string, Waiter[]>();
  private readonly share: number;

  private readonly yields: boolean;
  private readonly maxWaiting: number;

  constructor(
    private readonly connections: number,
    { yields = false, maxWaiting = MAX_WAITING }: Options = {},
  ) {
    this.yields = yields;
    this.maxWaiting = maxWaiting;
    this.share = Math.ceil(connections / 2);
  }

  get counts(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting };
  }

  /** @throws UnavailableError, or an error with code POOL_ACQUIRE_TIMEOUT */
  async enter({ principal = '', row }: Turn): Promise<Place> {
    const request = { principal, row };
    await this.ask(request, 'last');
    return new Place(
      // The transaction keeps its row between attempts.
      () => this.ask({ principal, row: undefined }, 'first'),
      (gives) => this.free(request, gives),
    );
  }

  private ask(request: TurnRequest, place: 'first' | 'last'): Promise<void> | undefined {
    if (this.canBegin(request)) {
      this.begin(request);
      return undefined;
    }
    const queue = this.queues.get(request.principal) ?? [];
    if (this.waiting >= this.maxWaiting) this.evictFor(queue.length);
    this.queues.set(request.principal, queue);
    this.waiting += 1;
    return this.wait(request, queue, place);
  }

  private async wait(request: TurnRequest, queue: Waiter[], place: 'first' | 'last'): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { ...request, begin: resolve, refuse: reject };
    if (place === 'last') queue.push(waiter);
    else queue.unshift(waiter);
    const timer = setTimeout(() => {
      this.take(queue, queue.indexOf(waiter)).refuse(acquireTimeoutError());
    }, ACQUIRE_TIMEOUT_MS);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
    // Otherwise everything that waits would run before anything else, such as requests whose turn would be next.
    if (this.yields) await yieldToEventLoop();
  }

  private canBegin({ principal, row }: TurnRequest): boolean {
    return (
      this.running < this.connections &&
      (this.runningOf.get(principal) ?? 0) < this.share &&
      (row === undefined || !this.takenRows.has(row))
    );
  }

  private begin({ principal, row }: TurnRequest): void {
    this.running += 1;
    this.runningOf.set(principal, (this.runningOf.get(principal) ?? 0) + 1);
    if (row !== undefined) this.takenRows.add(row);
  }

  private free({ principal, row }: TurnRequest, { connection, row: withRow }: Held): void {
    if (connection) {
      this.running -= 1;
      const left = this.runningOf.get(principal)! - 1;
      if (left === 0) this.runningOf.delete(principal);
      else this.runningOf.set(principal, left);
    }
    if (withRow && row !== undefined) this.takenRows.delete(row);
    this.beginNext();
  }

  /** Leaves nobody waiting who could begin, so that newcomers overtake nobody. */
  private beginNext(): void {
    for (let waiter = this.takeNext(); waiter; waiter = this.takeNext()) {
      this.begin(waiter);
      waiter.begin();
    }
  }

  private takeNext(): Waiter | undefined {
    if (this.running >= this.connections) return undefined;
    for (const [principal, queue] of this.queues) {
      const index = queue.findIndex((waiter) => this.canBegin(waiter));
      if (index < 0) continue;
      const waiter = this.take(queue, index);
      if (queue.length > 0) {
        this.queues.delete(principal);
        this.queues.set(principal, queue);
      }
      return waiter;
    }
    return undefined;
  }

  /** Evicts the newest of the principal with the most, if it keeps no fewer than the other gets. */
  private evictFor(held: number): void {
    const longest = [...this.queues.values()].reduce((most, queue) =>
      queue.length > most.length ? queue : most,
    );
    if (longest.length <= held + 1) throw busy();
    this.take(longest, longest.length - 1).refuse(busy());
  }

  private take(queue: Waiter[], index: number): Waiter {
    const [waiter] = queue.splice(index, 1) as [Waiter];
    if (queue.length === 0) this.queues.delete(waiter.principal);
    this.waiting -= 1;
    return waiter;
  }
}

export class Place {
  private hasConnection = true;

  constructor(
    private readonly askAgain: () => Promise<void> | undefined,
    private readonly free: (gives: Held) => void,
  ) {}

  /** Between two attempts keeps the row, so that it is not overtaken there, but no connection. */
  async pause(meanwhile: () => Promise<unknown>): Promise<void> {
    this.hasConnection = false;
    this.free({ connection: true, row: false });
    await meanwhile();
    await this.askAgain();
    this.hasConnection = true;
  }

  leave(): void {
    this.free({ connection: this.hasConnection, row: true });
  }
}

function busy(): UnavailableError {
  return new UnavailableError('Too many changes right now; try again shortly.', RETRY_AFTER_SECONDS);
}
