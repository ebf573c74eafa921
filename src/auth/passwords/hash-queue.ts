import { UnavailableError } from '../../problems/problem.js';

const RETRY_AFTER_SECONDS = 1;

/** Leaves time for the hash itself before the deadline of the answer. */
const MAX_WAIT_MS = 3000;

/** No client needs more than one place of four: the others are for clients that come later. */
const CLIENTS_TO_FILL_THE_LINE = 4;

/** Whom a piece of work is for. */
export interface HashClient {
  /** clients with the same key share what one client gets */
  key: string;
  /** whether nobody waits for the result any more */
  hasLeft(): boolean;
}

interface Waiter {
  client: HashClient;
  begin(): void;
  refuse(): void;
}

/**
 * Runs at most `concurrency()` pieces of work at once and lets at most `maxWaiting` more wait: a login storm then
 * costs neither memory nor the threads that other routes need. Clients are served in turn, each in the order of
 * its own requests, and none holds more than a quarter of the places. `concurrency` is asked each time a piece may
 * begin, and must never be less than 1.
 */
export class HashQueue {
  private running = 0;
  private waiting = 0;
  /** by client; the one whose turn it is comes first, and none is empty */
  private readonly lines = new Map<string, Waiter[]>();
  private readonly maxWaitingOfClient: number;

  constructor(
    private readonly concurrency: () => number,
    private readonly maxWaiting: number,
  ) {
    this.maxWaitingOfClient = Math.ceil(maxWaiting / CLIENTS_TO_FILL_THE_LINE);
  }

  get counts(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting };
  }

  /**
   * Settles as `work` does. Rejects with `UnavailableError`, without having begun, when the client has no place
   * left, loses its place to a client that has fewer, waited too long, or is gone.
   */
  async run<T>(client: HashClient, work: () => Promise<T>): Promise<T> {
    await this.enter(client);
    try {
      return await work();
    } finally {
      this.running -= 1;
      this.beginNext();
    }
  }

  private enter(client: HashClient): Promise<void> | undefined {
    if (this.waiting === 0 && this.running < this.concurrency()) {
      this.running += 1;
      return undefined;
    }
    const line = this.lines.get(client.key) ?? [];
    if (line.length >= this.maxWaitingOfClient) throw busy();
    if (this.waiting >= this.maxWaiting) this.makeRoomFor(line.length);
    this.lines.set(client.key, line);
    this.waiting += 1;
    return this.wait(client, line);
  }

  private async wait(client: HashClient, line: Waiter[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { client, begin: resolve, refuse: () => reject(busy()) };
    line.push(waiter);
    const timer = setTimeout(() => this.take(line, line.indexOf(waiter)).refuse(), MAX_WAIT_MS);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The newest request of the client with the most gives way, if that client keeps no fewer than the other gets. */
  private makeRoomFor(held: number): void {
    const longest = [...this.lines.values()].reduce((most, line) =>
      line.length > most.length ? line : most,
    );
    if (longest.length <= held + 1) throw busy();
    this.take(longest, longest.length - 1).refuse();
  }

  private beginNext(): void {
    while (this.waiting > 0 && this.running < this.concurrency()) {
      const waiter = this.takeNext();
      if (waiter.client.hasLeft()) {
        waiter.refuse();
      } else {
        this.running += 1;
        waiter.begin();
      }
    }
  }

  /** The oldest request of the client whose turn it is; that client then comes last. */
  private takeNext(): Waiter {
    const [key, line] = this.lines.entries().next().value!;
    const waiter = this.take(line, 0);
    if (line.length > 0) {
      this.lines.delete(key);
      this.lines.set(key, line);
    }
    return waiter;
  }

  private take(line: Waiter[], index: number): Waiter {
    const [waiter] = line.splice(index, 1) as [Waiter];
    if (line.length === 0) this.lines.delete(waiter.client.key);
    this.waiting -= 1;
    return waiter;
  }
}

function busy(): UnavailableError {
  return new UnavailableError('Too many logins at this moment; try again shortly.', RETRY_AFTER_SECONDS);
}
