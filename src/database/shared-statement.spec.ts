import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SharedStatement } from './shared-statement.js';

interface Query {
  keys: string[];
  answer(): void;
  fail(error: Error): void;
}

// A machine that is busy with other things must not make a query slow.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A database that answers when it is told to. */
function aDatabase(): { queries: Query[]; batched: SharedStatement<string, string> } {
  const queries: Query[] = [];
  const batched = new SharedStatement<string, string>(
    (keys) =>
      new Promise((resolve, reject) => {
        queries.push({ keys, answer: () => resolve(keys.map((key) => `${key}!`)), fail: reject });
      }),
  );
  return { queries, batched };
}

it('sends the requests of one turn of the event loop in one query', async () => {
  const { queries, batched } = aDatabase();
  const answers = ['a', 'b'].map((key) => batched.run(key));
  await yieldToEventLoop();
  expect(queries.map(({ keys }) => keys)).toEqual([['a', 'b']]);

  queries[0]!.answer();
  await expect(Promise.all(answers)).resolves.toEqual(['a!', 'b!']);
});

it('sends requests that arrive during a query together, and answers each separately', async () => {
  const { queries, batched } = aDatabase();
  const first = batched.run('a');
  await yieldToEventLoop();
  const others = ['b', 'c', 'b'].map((key) => batched.run(key));
  await yieldToEventLoop();
  expect(queries).toHaveLength(1);

  queries[0]!.answer();
  await expect.poll(() => queries[1]?.keys).toEqual(['b', 'c', 'b']);
  queries[1]!.answer();
  await expect(Promise.all([first, ...others])).resolves.toEqual(['a!', 'b!', 'c!', 'b!']);
});

it('sends many requests beside a query for as many, and none beside those two', async () => {
  const { queries, batched } = aDatabase();
  const run = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => batched.run(`${name}${index}`));
  const sizes = () => queries.map(({ keys }) => keys.length);
  const answers = run(10, 'a');
  await yieldToEventLoop();
  answers.push(...run(9, 'b'));
  await yieldToEventLoop();
  expect(sizes()).toEqual([10]);

  answers.push(...run(1, 'c'));
  await yieldToEventLoop();
  expect(sizes()).toEqual([10, 10]);

  answers.push(...run(30, 'd'));
  await yieldToEventLoop();
  expect(sizes()).toEqual([10, 10]);
  queries[1]!.answer();
  await expect.poll(sizes).toEqual([10, 10, 30]);
  queries[0]!.answer();
  queries[2]!.answer();
  expect(await Promise.all(answers)).toHaveLength(50);
});

it('keeps few requests for the next query', async () => {
  const { queries, batched } = aDatabase();
  const first = batched.run('a');
  await yieldToEventLoop();
  const others = Array.from({ length: 7 }, (_, index) => batched.run(String(index)));
  await yieldToEventLoop();
  expect(queries).toHaveLength(1);

  queries[0]!.answer();
  await expect.poll(() => queries[1]?.keys).toHaveLength(7);
  queries[1]!.answer();
  expect(await Promise.all([first, ...others])).toHaveLength(8);
});

it('fails only the requests whose query failed', async () => {
  const { queries, batched } = aDatabase();
  const first = batched.run('a');
  await yieldToEventLoop();
  const together = [batched.run('b'), batched.run('c')];
  queries[0]!.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');

  await expect.poll(() => queries.length).toBe(2);
  const later = batched.run('d');
  queries[1]!.fail(new Error('gone too'));
  for (const one of together) await expect(one).rejects.toThrow('gone too');

  await expect.poll(() => queries[2]?.keys).toEqual(['d']);
  queries[2]!.answer();
  await expect(later).resolves.toBe('d!');
});

it('is not blocked by one query that hangs', async () => {
  const { queries, batched } = aDatabase();
  void batched.run('hangs');
  await yieldToEventLoop();
  vi.advanceTimersByTime(30);
  const next = batched.run('b');
  await yieldToEventLoop();
  expect(queries[1]!.keys).toEqual(['b']);

  queries[1]!.answer();
  await expect(next).resolves.toBe('b!');
});

it('sends no empty query when another one took all requests', async () => {
  const { queries, batched } = aDatabase();
  const first = batched.run('slow');
  await yieldToEventLoop();
  vi.advanceTimersByTime(30);
  queries[0]!.answer();
  const next = batched.run('b');
  await expect(first).resolves.toBe('slow!');
  await yieldToEventLoop();
  await yieldToEventLoop();
  expect(queries.map(({ keys }) => keys)).toEqual([['slow'], ['b']]);

  queries[1]!.answer();
  await expect(next).resolves.toBe('b!');
});

it('sends at most 64 keys in a query', async () => {
  const { queries, batched } = aDatabase();
  const answers = Array.from({ length: 70 }, (_, index) => batched.run(String(index)));
  for (const size of [64, 6]) {
    await expect.poll(() => queries.length).toBeGreaterThan(0);
    const query = queries.shift()!;
    expect(query.keys).toHaveLength(size);
    query.answer();
  }
  await expect(Promise.all(answers)).resolves.toHaveLength(70);
});

it('yields to the event loop between queries', async () => {
  let turns = 0;
  const asked: { count: number; turns: number }[] = [];
  const batched = new SharedStatement<number, number>((keys) => {
    asked.push({ count: keys.length, turns });
    return Promise.resolve(keys);
  });
  const count = (): void => {
    turns += 1;
    if (asked.length < 3) setImmediate(count);
  };
  setImmediate(count);

  await Promise.all(Array.from({ length: 150 }, (_, key) => batched.run(key)));

  expect(asked.map((one) => one.count)).toEqual([64, 64, 22]);
  expect(new Set(asked.map((one) => one.turns)).size).toBeGreaterThan(2);
});
