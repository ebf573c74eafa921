import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Socket } from 'node:net';
import { UnavailableError } from '../../problems/problem.js';
import { EventLoopMonitor, type HashClient, hashClientOf, HashQueue } from './hash-queue.js';

const ADA: HashClient = { key: 'ada', hasLeft: () => false };

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A queue whose pieces of work end when they are told to. */
function aQueue(concurrency: () => number, maxWaiting: number) {
  const queue = new HashQueue(concurrency, maxWaiting);
  const started: string[] = [];
  const refused: string[] = [];
  const refusals: unknown[] = [];
  const ends = new Map<string, () => void>();
  const askAs = (client: HashClient, name: string): Promise<string | undefined> =>
    queue
      .run(client, () => {
        started.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      })
      .catch((error: unknown) => {
        refusals.push(error);
        refused.push(name);
        return undefined;
      });
  /** The first of two words names the client. */
  const ask = (...names: string[]): Promise<(string | undefined)[]> =>
    Promise.all(
      names.map((name) => askAs({ ...ADA, key: name.includes(' ') ? name.split(' ')[0]! : ADA.key }, name)),
    );
  const end = async (name: string): Promise<void> => {
    await settled();
    ends.get(name)!();
    await settled();
  };
  /** Ends whatever runs until nothing does. */
  const endAll = async (): Promise<void> => {
    await settled();
    for (let i = 0; i < started.length; i += 1) await end(started[i]!);
  };
  return { queue, started, refused, refusals, ask, askAs, end, endAll };
}

afterEach(() => vi.useRealTimers());

describe('the work of one client', () => {
  it('follows a concurrency that falls and rises', async () => {
    let room = 2;
    const { ask, end, started } = aQueue(() => room, 12);
    void ask('a', 'b', 'c', 'd', 'e');
    expect(started).toEqual(['a', 'b']);
    room = 1;
    await end('a');
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    room = 2;
    await end('c');
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('lets no newcomer overtake waiting work', async () => {
    const { ask, end, started } = aQueue(() => 1, 12);
    void ask('a', 'b');
    await end('a');
    void ask('c');
    await settled();
    expect(started).toEqual(['a', 'b']);
  });

  it('frees the slot when the work rejects or throws', async () => {
    const { queue } = aQueue(() => 1, 4);
    const throwing = () => {
      throw new Error('synchronous');
    };
    await expect(queue.run(ADA, () => Promise.reject(new Error('rejected')))).rejects.toThrow('rejected');
    await expect(queue.run(ADA, throwing)).rejects.toThrow('synchronous');
    expect(await queue.run(ADA, () => Promise.resolve('next'))).toBe('next');
  });

  it('fills the queue while the client is alone; more is refused at once', async () => {
    const { ask, endAll, started, refused, refusals } = aQueue(() => 1, 3);
    void ask('running', 'first', 'second', 'third', 'fourth');
    await settled();
    expect(refused).toEqual(['fourth']);
    expect(refusals[0]).toBeInstanceOf(UnavailableError);
    expect(refusals[0]).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    await endAll();
    expect(started).toEqual(['running', 'first', 'second', 'third']);
    void ask('later');
    await settled();
    expect(started.at(-1)).toBe('later');
  });

  it.each([
    { durationMs: 500, concurrency: 1, slots: 5 },
    { durationMs: 500, concurrency: 2, slots: 10 },
    { durationMs: 100, concurrency: 1, slots: 12 },
    { durationMs: 9000, concurrency: 1, slots: 1 },
  ])(
    'finds $slots slots where work takes $durationMs ms, $concurrency at a time',
    async ({ durationMs, concurrency, slots }) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      const { ask, end, queue } = aQueue(() => concurrency, 12);
      void ask('measured');
      await settled();
      vi.advanceTimersByTime(durationMs);
      await end('measured');
      void ask(...Array.from({ length: concurrency + 20 }, (_, i) => `${i}`));
      await settled();
      expect(queue.counts).toEqual({ running: concurrency, waiting: slots });
    },
  );

  it('is refused after three seconds of waiting, but later work is not', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { ask, end, started, refused } = aQueue(() => 1, 12);
    void ask('running', 'late');
    vi.advanceTimersByTime(2000);
    void ask('fresh');
    vi.advanceTimersByTime(1000);
    await settled();
    expect(refused).toEqual(['late']);
    await end('running');
    expect(started).toEqual(['running', 'fresh']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not start when the client has disconnected', async () => {
    const { ask, askAs, end, started, refused } = aQueue(() => 1, 12);
    const gone = { key: 'gone', left: false, hasLeft: () => gone.left };
    void ask('running');
    void askAs(gone, 'abandoned');
    void ask('next');
    gone.left = true;
    await end('running');
    expect(started).toEqual(['running', 'next']);
    expect(refused).toEqual(['abandoned']);
  });
});

describe('clients', () => {
  it('are served round-robin, however much one of them asks for', async () => {
    const { ask, endAll, started } = aQueue(() => 1, 100);
    const flood = Array.from({ length: 20 }, (_, i) => `flood ${i + 1}`);
    void ask('running', ...flood, 'ada 1', 'ada 2', 'eve 1');
    await endAll();
    const first = ['running', 'flood 1', 'ada 1', 'eve 1', 'flood 2', 'ada 2', 'flood 3'];
    expect(started.slice(0, 7)).toEqual(first);
    expect(started).toHaveLength(24);
  });

  it('are all served or refused, and the queue never exceeds its size', async () => {
    const { ask, endAll, started, refused } = aQueue(() => 2, 12);
    const asked = ask(...Array.from({ length: 500 }, (_, i) => `${(i * i) % 17} ${i}`));
    await settled();
    expect(refused).toHaveLength(500 - 2 - 12);
    await endAll();
    expect((await asked).filter((name) => name !== undefined)).toHaveLength(14);
    expect(started).toHaveLength(14);
  });

  it('take the only slot from a client that has what runs, too', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { ask, end, started, refused } = aQueue(() => 1, 12);
    void ask('measured');
    await settled();
    vi.advanceTimersByTime(2000);
    await end('measured');
    void ask('flood 1', 'flood 2', 'ada 1', 'flood 3', 'eve 1');
    await settled();
    expect(refused.toSorted()).toEqual(['eve 1', 'flood 2', 'flood 3']);
    await end('flood 1');
    expect(started).toEqual(['measured', 'flood 1', 'ada 1']);
  });

  it('take no slot from a client that would then have less', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { ask, end, refused } = aQueue(() => 2, 12);
    void ask('measured');
    await settled();
    vi.advanceTimersByTime(9000);
    await end('measured');
    void ask('ada 1', 'eve 1', 'eve 2', 'ada 2');
    await settled();
    expect(refused).toEqual(['ada 2']);
  });

  it.each([
    { durationMs: 500, atLeast: 0.55 },
    { durationMs: 1000, atLeast: 0.25 },
  ])('log in beside a flood of hashes of $durationMs ms on one slot', async ({ durationMs, atLeast }) => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const queue = new HashQueue(() => 1, 200);
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const isRefused = (key: string, id: string, hashMs: number): Promise<boolean> =>
      queue
        .run({ key, id, hasLeft: () => false }, () => pause(hashMs))
        .then(
          () => false,
          () => true,
        );
    const until = performance.now() + 30_000;
    const flood = async (nth: number): Promise<void> => {
      while (performance.now() < until)
        if (await isRefused('flood', `flood ${nth % 12}`, durationMs)) await pause(200);
    };
    const outcomes: boolean[] = [];
    const logIn = async (name: string, beginsAfterMs: number): Promise<void> => {
      await pause(beginsAfterMs);
      while (performance.now() < until) {
        outcomes.push(await isRefused(name, name, 25));
        await pause(1000);
      }
    };
    const over = Promise.all([
      ...Array.from({ length: 40 }, (_, nth) => flood(nth)),
      ...['ada', 'eve', 'joan'].map((name, nth) => logIn(name, 4000 + 310 * nth)),
    ]);
    while (vi.getTimerCount() > 0) {
      await settled();
      await vi.advanceTimersByTimeAsync(5);
    }
    await over;
    const served = outcomes.filter((refused) => !refused).length;
    expect(served / outcomes.length).toBeGreaterThan(atLeast);
  });
});

describe('a client that waits as long as it is told', () => {
  interface Morning {
    keys: number;
    durationMs: (nth: number) => number;
    workers?: number;
  }

  /** Logins one after another by some workers, each of which repeats what is rejected. @returns refusals of each login */
  async function aMorning({ keys, durationMs, workers = 16 }: Morning): Promise<number[]> {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const queue = new HashQueue(() => 2, 400);
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    let [hashes, next] = [0, 0];
    const refusals = Array.from({ length: 400 }, () => 0);
    const hash = (): Promise<void> => pause(durationMs((hashes += 1)));
    const logIn = async (login: number): Promise<void> => {
      const client = { key: `${login % keys}`, id: `${login}`, hasLeft: () => false };
      for (;;) {
        const refused = await queue.run(client, hash).then(
          () => undefined,
          (error: unknown) => error as UnavailableError,
        );
        if (!refused) return;
        refusals[login]! += 1;
        await pause(Number(refused.headers?.['Retry-After']) * 1000);
      }
    };
    const work = async (): Promise<void> => {
      while (next < refusals.length) await logIn(next++);
    };
    const measured = queue.run({ key: 'start', hasLeft: () => false }, hash);
    await vi.advanceTimersByTimeAsync(2000);
    await measured;
    const over = Promise.all(Array.from({ length: workers }, work));
    while (next < refusals.length || vi.getTimerCount() > 0) {
      await settled();
      await vi.advanceTimersByTimeAsync(20);
    }
    await over;
    return refusals;
  }

  it.each<[string, Morning]>([
    ['one client', { keys: 1, durationMs: () => 600 }],
    ['many clients', { keys: 400, durationMs: () => 600 }],
    ['hashes of very different cost', { keys: 1, durationMs: (nth) => (nth % 3) * 450 + 20 }],
    ['slow hashes', { keys: 8, durationMs: () => 1100 }],
    ['slow hashes of different cost', { keys: 1, durationMs: (nth) => 500 + ((nth * 7) % 11) * 200 }],
    ['hashes that become slower', { keys: 1, durationMs: (nth) => 1600 + 900 * Math.sin(nth / 20) }],
    ['and many clients', { keys: 8, durationMs: (nth) => 1100 + 500 * Math.sin(nth / 12) }],
    ['many more requests', { keys: 20, durationMs: () => 250, workers: 100 }],
  ])('is refused once at most: %s', async (_, morning) => {
    const refusals = await aMorning(morning);
    expect(refusals.filter((count) => count > 1)).toEqual([]);
    expect(refusals.filter((count) => count === 1).length).toBeGreaterThan(5);
  });

  it('has to wait: who returns early is refused like others, and keeps the time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { ask, end, refusals } = aQueue(() => 1, 1);
    void ask('measured');
    await settled();
    vi.advanceTimersByTime(2400);
    await end('measured');
    void ask('running', 'waiting');
    for (const pauseMs of [0, 2000]) {
      vi.advanceTimersByTime(pauseMs);
      void ask('early');
      await settled();
    }
    const told = refusals.map((error) => (error as UnavailableError).headers?.['Retry-After']);
    expect(told).toEqual(['8', '6']);
  });

  it('keeps its slot for five seconds only', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { ask, askAs, end, refused, refusals } = aQueue(() => 1, 1);
    const returning = async (): Promise<void> => {
      for (const id of ['late', 'in time']) void askAs({ ...ADA, id }, id);
      await settled();
    };
    void ask('measured');
    await settled();
    vi.advanceTimersByTime(2400);
    await end('measured');
    void ask('running', 'waiting');
    await returning();
    const told = refusals.map((error) => (error as UnavailableError).headers?.['Retry-After']);
    expect(told).toEqual(['8', '11']);
    // The exact time is 7.2 s.
    vi.advanceTimersByTime(7200 + 5001);
    await returning();
    expect(refused).toEqual(['late', 'in time', 'late']);
  });
});

function requestFrom(ip: string, destroyed = false): Parameters<typeof hashClientOf>[0] {
  return { ip, body: undefined, socket: { remoteAddress: '192.0.2.1', destroyed } as Socket };
}

describe('the client of a request', () => {
  it('is the same for all networks of a site, and different for each IPv4 address', () => {
    const sites = ['2001:db8:1:2::1', '2001:db8:1:ffff::2', '2001:db8:2::1', '198.51.100.1', '198.51.100.2'];
    const keys = sites.map((ip) => hashClientOf(requestFrom(ip)).key);
    expect(keys[0]).toBe(keys[1]);
    expect(new Set(keys).size).toBe(4);
  });

  it('is recognized by its email when it returns, whatever stands in slot of one', () => {
    const idOf = (email: unknown) => hashClientOf({ ...requestFrom('198.51.100.1'), body: { email } }).id;
    const emails = ['ada@example.com', 'grace@example.com', undefined];
    expect(new Set(emails.map(idOf)).size).toBe(3);
    expect(new Set([{ toString: 'x' }, ['ada@example.com'], null, undefined].map(idOf)).size).toBe(1);
  });

  it('has left when its connection is closed', () => {
    expect(hashClientOf(requestFrom('198.51.100.1')).hasLeft()).toBe(false);
    expect(hashClientOf(requestFrom('198.51.100.1', true)).hasLeft()).toBe(true);
  });
});

function keepBusy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('reports a saturated event loop, until it is idle again', async () => {
  const load = new EventLoopMonitor();
  // On a busy machine a span can be spent waiting for a core, which looks like work: one of several does not.
  const untilIdle = () =>
    vi.waitFor(() => expect(load.isSaturated()).toBe(false), { interval: 100, timeout: 60_000 });
  await untilIdle();
  keepBusy(200);
  expect(load.isSaturated()).toBe(true);
  await untilIdle();
});
