import { afterEach, describe, expect, it, vi } from 'vitest';
import { UnavailableError } from '../../problems/problem.js';
import { ACQUIRE_TIMEOUT_MS } from './database-errors.js';
import { TransactionQueue, type Turn } from './transaction-queue.js';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A queue whose transactions end when they are told to. */
function aQueue(connections: number, options: { maxWaiting?: number; yields?: boolean } = {}) {
  const queue = new TransactionQueue(connections, options.yields, options.maxWaiting);
  const started: string[] = [];
  const refused: string[] = [];
  const refusals: unknown[] = [];
  const ends = new Map<string, () => void>();
  const ask = async (name: string, asked: Turn = { principal: 'clean-up' }): Promise<void> => {
    const turn = { ...asked };
    try {
      await queue.enter(turn);
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      queue.leave(turn);
    } catch (error) {
      refusals.push(error);
      refused.push(name);
    }
  };
  const end = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      await settled();
      ends.get(name)!();
      ends.delete(name);
      await settled();
    }
  };
  /** Ends whatever runs, the oldest first, until nothing does. */
  const endAll = async (): Promise<void> => {
    await settled();
    for (let [next] = ends.keys(); next !== undefined; [next] = ends.keys()) await end(next);
  };
  return { queue, ask, end, endAll, started, refused, refusals };
}

afterEach(() => vi.useRealTimers());

describe('principals', () => {
  it('are served round-robin, however much one of them asks for', async () => {
    const { ask, endAll, started } = aQueue(1);
    for (let i = 1; i <= 64; i += 1) void ask(`flood ${i}`, { principal: 'flood' });
    for (const name of ['ada 1', 'ada 2']) void ask(name, { principal: 'ada' });
    void ask('eve 1', { principal: 'eve' });
    void ask('clean-up');
    await endAll();
    const order = 'flood 1, flood 2, ada 1, eve 1, clean-up, flood 3, ada 2, flood 4';
    expect(started.slice(0, 8).join(', ')).toBe(order);
    expect(started).toHaveLength(68);
  });

  it.each([
    [10, 5],
    [3, 2],
    [2, 1],
    [1, 1],
  ])('hold, of %i connections, at most %i, and leave the others free', async (connections, share) => {
    const { ask, end, queue } = aQueue(connections);
    for (let i = 0; i < 64; i += 1) void ask(`flood ${i}`, { principal: 'flood' });
    expect(queue.counts).toEqual({ running: share, waiting: 64 - share });
    await end('flood 0');
    expect(queue.counts).toEqual({ running: share, waiting: 63 - share });
    for (let i = share; i < connections; i += 1) void ask(`other ${i}`, { principal: `other ${i}` });
    expect(queue.counts).toEqual({ running: connections, waiting: 63 - share });
  });

  it('take slots from one that filled the queue while it was alone', async () => {
    const { ask, endAll, started, refused, refusals } = aQueue(1, { maxWaiting: 4 });
    for (let i = 1; i <= 5; i += 1) void ask(`flood ${i}`, { principal: 'flood' });
    for (const name of ['ada 1', 'ada 2', 'ada 3']) void ask(name, { principal: 'ada' });
    await settled();
    expect(refused).toEqual(['ada 3', 'flood 5', 'flood 4']);
    expect(refusals[0]).toBeInstanceOf(UnavailableError);
    expect(refusals[0]).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    await endAll();
    expect(started).toEqual(['flood 1', 'flood 2', 'ada 1', 'flood 3', 'ada 2']);
  });
});

describe('work on one row', () => {
  it('runs one after the other, and holds no connection while it waits', async () => {
    const { ask, endAll, queue, started } = aQueue(10);
    for (let i = 1; i <= 8; i += 1) void ask(`org ${i}`, { principal: `user ${i}`, row: 'org' });
    expect(queue.counts).toEqual({ running: 1, waiting: 7 });
    void ask('elsewhere', { principal: 'user 9', row: 'other org' });
    void ask('nowhere', { principal: 'user 9' });
    await settled();
    expect(started).toEqual(['org 1', 'elsewhere', 'nowhere']);
    await endAll();
    expect(started.slice(3)).toEqual([2, 3, 4, 5, 6, 7, 8].map((i) => `org ${i}`));
    expect(queue.counts).toEqual({ running: 0, waiting: 0 });
  });

  it('does not keep other work of its principal waiting behind it', async () => {
    const { ask, end, started } = aQueue(10);
    for (const name of ['first', 'second']) void ask(name, { principal: 'ada', row: 'org' });
    void ask('elsewhere', { principal: 'ada', row: 'other org' });
    await settled();
    expect(started).toEqual(['first', 'elsewhere']);
    await end('first');
    expect(started).toEqual(['first', 'elsewhere', 'second']);
  });

  it('keeps the row, and no connection, between two attempts; the second goes first among its principal’s', async () => {
    const { ask, end, queue, started } = aQueue(1);
    const turn = { principal: 'ada', row: 'org' };
    await queue.enter(turn);
    void ask('the same row', { principal: 'bob', row: 'org' });
    void ask('ada, later', { principal: 'ada' });
    void ask('eve', { principal: 'eve' });
    const pause = Promise.withResolvers<void>();
    const resumed = queue.pause(turn, () => pause.promise);
    await settled();
    expect(started).toEqual(['ada, later']);
    void ask('ada, still later', { principal: 'ada' });
    pause.resolve();
    await end('ada, later', 'eve');
    await resumed;
    expect(started).toEqual(['ada, later', 'eve']);
    queue.leave(turn);
    await end('the same row');
    expect(started).toEqual(['ada, later', 'eve', 'the same row', 'ada, still later']);
  });
});

describe('whoever waits too long', () => {
  it('is refused, and takes neither the slot nor the row', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { ask, end, endAll, queue, refused, refusals, started } = aQueue(10);
    void ask('running', { principal: 'eve', row: 'org' });
    void ask('late', { principal: 'ada', row: 'org' });
    vi.advanceTimersByTime(ACQUIRE_TIMEOUT_MS - 1);
    void ask('fresh', { principal: 'ada', row: 'org' });
    vi.advanceTimersByTime(1);
    await settled();
    expect(refused).toEqual(['late']);
    expect(refusals[0]).toMatchObject({ code: 'POOL_ACQUIRE_TIMEOUT' });
    await end('running');
    expect(started).toEqual(['running', 'fresh']);
    await endAll();
    expect(queue.counts).toEqual({ running: 0, waiting: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('lets other work run between two units of work, where the database would not', async () => {
  const queue = new TransactionQueue(1, true);
  const order: string[] = [];
  const visits = [1, 2, 3].map(async (number) => {
    const turn = { principal: 'flood' };
    await queue.enter(turn);
    order.push(`flood ${number}`);
    queue.leave(turn);
  });
  setImmediate(() => order.push('a request'));
  await Promise.all(visits);
  expect(order).toEqual(['flood 1', 'a request', 'flood 2', 'flood 3']);
});

it('frees the row of work that got no connection for another attempt', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { ask, end, queue, started } = aQueue(1);
  const turn = { principal: 'ada', row: 'org' };
  await queue.enter(turn);
  void ask('eve', { principal: 'eve' });
  const refusal = queue.pause(turn, () => Promise.resolve()).catch((error: unknown) => error);
  await settled();
  vi.advanceTimersByTime(ACQUIRE_TIMEOUT_MS);
  expect(await refusal).toMatchObject({ code: 'POOL_ACQUIRE_TIMEOUT' });
  queue.leave(turn);
  void ask('next', { principal: 'bob', row: 'org' });
  await end('eve');
  expect(started).toEqual(['eve', 'next']);
  expect(queue.counts).toEqual({ running: 1, waiting: 0 });
});
