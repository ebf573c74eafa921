import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { UnavailableError } from '../../problems/problem.js';
import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError } from './database-errors.js';
import { FairQueue } from './fair-queue.js';

export interface Turn {
  /** id of the user, IP address of the client, or name of the job or command */
  principal: string;
  /** id of the organization or user whose row the transaction locks first */
  row?: string;
}

const MAX_WAITING = 2000;

// A transaction that waits in the database holds a connection, so transactions wait here: principals take turns, none has
// more than half of them, and transactions on one row run one after the other.
export class TransactionQueue {
  private readonly running = new Set<Turn>();
  private readonly turnsByRow = new Map<string, Turn>();
  private readonly queue: FairQueue<Turn>;
  private readonly share: number;

  constructor(
    private readonly connections: number,
    private readonly yields = false,
    maxWaiting = MAX_WAITING,
  ) {
    this.share = Math.ceil(connections / 2);
    this.queue = new FairQueue({
      maxWaiting: () => maxWaiting,
      timeoutMs: ACQUIRE_TIMEOUT_MS,
      busy: () => new UnavailableError('Too many changes right now. Try again shortly.'),
      tooLate: acquireTimeoutError,
    });
  }

  get counts(): { running: number; waiting: number } {
    return { running: this.running.size, waiting: this.queue.counts.waiting };
  }

  async enter(turn: Turn, position: 'first' | 'last' = 'last'): Promise<void> {
    if (this.canBegin(turn)) return this.begin(turn);
    await this.queue.wait(turn.principal, turn, position);
    // Without this pause, all waiting transactions would run before other requests.
    if (this.yields) await yieldToEventLoop();
  }

  /** Between two attempts the turn keeps its row, but not its connection. */
  async pause(turn: Turn, meanwhile: () => Promise<unknown>): Promise<void> {
    this.giveBackConnection(turn);
    this.beginNext();
    await meanwhile();
    await this.enter(turn, 'first');
  }

  leave(turn: Turn): void {
    this.giveBackConnection(turn);
    if (turn.row !== undefined && this.turnsByRow.get(turn.row) === turn) this.turnsByRow.delete(turn.row);
    this.beginNext();
  }

  private canBegin(turn: Turn): boolean {
    const current = turn.row === undefined ? undefined : this.turnsByRow.get(turn.row);
    return (
      this.running.size < this.connections &&
      this.queue.runningOf(turn.principal) < this.share &&
      (current === undefined || current === turn)
    );
  }

  private begin(turn: Turn): void {
    this.running.add(turn);
    this.queue.addRunning(turn.principal);
    if (turn.row !== undefined) this.turnsByRow.set(turn.row, turn);
  }

  private giveBackConnection(turn: Turn): void {
    if (this.running.delete(turn)) this.queue.removeRunning(turn.principal);
  }

  private beginNext(): void {
    while (this.running.size < this.connections) {
      const next = this.queue.takeNext((turn) => this.canBegin(turn));
      if (!next) return;
      this.begin(next.request);
      next.begin();
    }
  }
}
