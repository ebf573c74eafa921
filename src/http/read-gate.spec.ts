import { afterEach, describe, expect, it, vi } from 'vitest';
import { UnavailableError } from '../problems/problem.js';
import { ClientLeftError, ReadGate } from './read-gate.js';

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

/** A gate whose reads end when they are told to. */
function aGate() {
  const gate = new ReadGate();
  const started: string[] = [];
  const refusals: unknown[] = [];
  const left = new Set<string>();
  const ends: (() => void)[] = [];
  const ask = (key: string, count = 1, how: 'run' | 'runPage' = 'run'): void => {
    for (let n = 0; n < count; n += 1) {
      const work = (): Promise<void> => {
        started.push(key);
        return new Promise<void>((resolve) => ends.push(resolve));
      };
      void gate[how]({ key, hasLeft: () => left.has(key) }, work).catch((error: unknown) =>
        refusals.push(error),
      );
    }
  };
  const end = async (count: number): Promise<void> => {
    for (const each of ends.splice(0, count)) each();
    await settled();
  };
  return { gate, ask, end, started, refusals, left };
}

afterEach(() => vi.useRealTimers());

describe('reads', () => {
  it('run eight at once for one principal and 32 in all', async () => {
    const { gate, ask, end, started } = aGate();
    for (const key of ['ada', 'eve', 'bob', 'flo', 'guy']) ask(key, 20);
    expect(gate.counts).toEqual({ running: 32, waiting: 68 });
    expect(started.filter((key) => key === 'ada')).toHaveLength(8);
    await end(8);
    expect(gate.counts).toEqual({ running: 32, waiting: 60 });
    while (gate.counts.running > 0) await end(32);
    expect(started).toHaveLength(100);
  });

  it('of one principal leave room for others', async () => {
    const { ask, started } = aGate();
    ask('flood', 500);
    ask('ada');
    expect(started).toContain('ada');
  });

  it('take turns by principal when they wait', async () => {
    const { ask, end, started } = aGate();
    for (const key of ['a', 'b', 'c', 'd']) ask(key, 8);
    ask('flood', 10);
    ask('ada');
    await end(2);
    expect(started.slice(32)).toEqual(['flood', 'ada']);
  });

  it('are refused beyond 1,000 that wait, and another principal takes the slot of the one with most', async () => {
    const { gate, ask, refusals, started, end } = aGate();
    ask('flood', 1009);
    await settled();
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toBeInstanceOf(UnavailableError);
    for (const key of ['a', 'b', 'c']) ask(key, 8);
    ask('ada');
    await settled();
    expect(refusals).toHaveLength(2);
    expect(gate.counts).toEqual({ running: 32, waiting: 1000 });
    await end(2);
    expect(started).toContain('ada');
  });

  it('wait three seconds, and the pages of a stream for as long as it takes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { gate, ask, end, refusals } = aGate();
    ask('ada', 8);
    ask('ada', 1);
    ask('ada', 1, 'runPage');
    await vi.advanceTimersByTimeAsync(2999);
    expect(refusals).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(refusals).toMatchObject([{ code: 'unavailable', headers: { 'Retry-After': '1' } }]);
    expect(gate.counts).toEqual({ running: 8, waiting: 1 });
    await end(1);
    expect(gate.counts).toEqual({ running: 8, waiting: 0 });
  });

  it('begin after the pages of streams of their principal', async () => {
    const { gate, ask, end } = aGate();
    const started: string[] = [];
    ask('ada', 8);
    const reader = { key: 'ada', hasLeft: () => false };
    const note = (what: string) => () => Promise.resolve(void started.push(what));
    const all = [gate.run(reader, note('list')), gate.runPage(reader, note('page'))];
    await end(1);
    await Promise.all(all);
    expect(started).toEqual(['page', 'list']);
  });

  it('do not begin for a client that has left, and give its slot on', async () => {
    const { gate, ask, end, refusals, started, left } = aGate();
    for (const key of ['a', 'b', 'c', 'd']) ask(key, 8);
    ask('gone', 3);
    ask('gone', 1, 'runPage');
    ask('ada');
    left.add('gone');
    await end(1);
    expect(started.slice(32)).toEqual(['ada']);
    await end(4);
    expect(refusals.map((error) => error instanceof ClientLeftError)).toEqual([true, true, true, true]);
    expect(gate.counts).toEqual({ running: 28, waiting: 0 });
  });

  it('give their slot back when they fail', async () => {
    const { gate } = aGate();
    const reader = { key: 'ada', hasLeft: () => false };
    const fail = (): Promise<never> => Promise.reject(new Error('the database is gone'));
    await expect(gate.run(reader, fail)).rejects.toThrow('the database is gone');
    await expect(gate.runPage(reader, fail)).rejects.toThrow('the database is gone');
    expect(gate.counts).toEqual({ running: 0, waiting: 0 });
  });
});
