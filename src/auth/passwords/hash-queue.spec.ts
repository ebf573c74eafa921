import { describe, expect, it } from 'vitest';
import { UnavailableError } from '../../problems/problem.js';
import { HashQueue } from './hash-queue.js';

/** Work that ends when it is told to. */
function controlled(started: number[], id: number) {
  let finish!: () => void;
  let fail!: (error: Error) => void;
  const promise = new Promise<number>((resolve, reject) => {
    finish = () => resolve(id);
    fail = reject;
  });
  const work = () => {
    started.push(id);
    return promise;
  };
  return { work, finish, fail };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('HashQueue', () => {
  it('runs at most so many at once, in the order of arrival', async () => {
    const queue = new HashQueue(() => 2, 10);
    const started: number[] = [];
    const jobs = [0, 1, 2, 3, 4].map((id) => controlled(started, id));
    const results = Promise.all(jobs.map((job) => queue.run(job.work)));
    await settled();
    expect(started).toEqual([0, 1]);
    jobs[1]!.finish();
    await settled();
    expect(started).toEqual([0, 1, 2]);
    for (const job of jobs) job.finish();
    expect(await results).toEqual([0, 1, 2, 3, 4]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  it('begins fewer while there is room for fewer, and as many as before when there is more again', async () => {
    let room = 2;
    const queue = new HashQueue(() => room, 10);
    const started: number[] = [];
    const jobs = [0, 1, 2, 3, 4].map((id) => controlled(started, id));
    const results = Promise.all(jobs.map((job) => queue.run(job.work)));
    room = 1;
    jobs[0]!.finish();
    await settled();
    expect(started).toEqual([0, 1]);
    jobs[1]!.finish();
    await settled();
    expect(started).toEqual([0, 1, 2]);
    room = 2;
    jobs[2]!.finish();
    await settled();
    expect(started).toEqual([0, 1, 2, 3, 4]);
    for (const job of jobs) job.finish();
    expect(await results).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuses at once with Retry-After when the line is full, and recovers', async () => {
    const queue = new HashQueue(() => 1, 1);
    const started: number[] = [];
    const [running, waiting] = [controlled(started, 0), controlled(started, 1)];
    const both = Promise.all([queue.run(running.work), queue.run(waiting.work)]);
    const refusal: unknown = await queue.run(() => Promise.resolve(2)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UnavailableError);
    expect(refusal).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect(started).toEqual([0]);
    running.finish();
    waiting.finish();
    await both;
    expect(await queue.run(() => Promise.resolve(3))).toBe(3);
  });

  it('gives the slot back when work rejects or throws', async () => {
    const queue = new HashQueue(() => 1, 1);
    const throwing = () => {
      throw new Error('synchronous');
    };
    await expect(queue.run(() => Promise.reject(new Error('rejected')))).rejects.toThrow('rejected');
    await expect(queue.run(throwing)).rejects.toThrow('synchronous');
    const failing = controlled([], 0);
    const first = queue.run(failing.work);
    const second = queue.run(() => Promise.resolve('second'));
    failing.fail(new Error('late'));
    await expect(first).rejects.toThrow('late');
    expect(await second).toBe('second');
  });

  it('lets no newcomer overtake those who wait', async () => {
    const queue = new HashQueue(() => 1, 5);
    const started: number[] = [];
    const jobs = [0, 1, 2].map((id) => controlled(started, id));
    const early = jobs.slice(0, 2).map((job) => queue.run(job.work));
    jobs[0]!.finish();
    await early[0];
    const late = queue.run(jobs[2]!.work);
    await settled();
    expect(started).toEqual([0, 1]);
    jobs[1]!.finish();
    jobs[2]!.finish();
    expect(await Promise.all([...early, late])).toEqual([0, 1, 2]);
  });
});

it('does not begin what waited too long, and goes on with the next', async () => {
  let now = 0;
  const queue = new HashQueue(
    () => 1,
    2,
    () => now,
  );
  const done: string[] = [];
  const held = Promise.withResolvers<void>();
  const first = queue.run(() => held.promise);
  const late = queue.run(() => Promise.resolve(done.push('late')));
  now = 3001;
  const fresh = queue.run(() => Promise.resolve(done.push('fresh')));

  held.resolve();

  await first;
  await expect(late).rejects.toBeInstanceOf(UnavailableError);
  await fresh;
  expect(done).toEqual(['fresh']);
});
