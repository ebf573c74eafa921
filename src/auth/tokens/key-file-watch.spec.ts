import { beforeEach, expect, it } from 'vitest';
import { SharedLook } from './key-file-watch.js';

let looks: (() => void)[] = [];
let shared: SharedLook;

beforeEach(() => {
  looks = [];
  shared = new SharedLook(() => new Promise((end) => looks.push(end)));
});

/** Ends the looks that have begun, and those that begin meanwhile. */
async function endLooks(): Promise<void> {
  for (let ended = 0; ended < looks.length; ended += 1) {
    looks[ended]!();
    await new Promise(setImmediate);
  }
}

it('begins at once for each caller who comes after the end of another look', async () => {
  for (let caller = 1; caller <= 3; caller += 1) {
    const answered = shared.ask();
    await new Promise(setImmediate);
    expect(looks).toHaveLength(caller);
    looks.at(-1)!();
    await answered;
  }
});

it('is shared by all callers who come during another look, and begins after it', async () => {
  const first = shared.ask();
  await new Promise(setImmediate);
  const later = Array.from({ length: 500 }, () => shared.ask());
  await new Promise(setImmediate);
  expect(looks).toHaveLength(1);
  await endLooks();
  await Promise.all([first, ...later]);
  expect(looks).toHaveLength(2);
});

it('keeps a bounded number of callers waiting while the file system hangs', async () => {
  let answered = 0;
  for (let i = 0; i < 1500; i += 1) void shared.ask().then(() => (answered += 1));
  await new Promise(setImmediate);
  expect(answered).toBe(500);
  await endLooks();
  expect(answered).toBe(1500);
});
