import { Logger } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { afterEach, expect, it, vi } from 'vitest';
import { isReadOnly, refusedWrites } from './database-errors.js';

const failed = (errno: number, message: string) =>
  new QueryFailedError('UPDATE t SET x = 1', [], Object.assign(new Error(message), { errno }));

const prevented = (option: string) =>
  failed(1290, `The MySQL server is running with the ${option} option so it cannot execute this statement`);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it.each([
  ['read-only', prevented('--read-only'), true],
  ['super-read-only', prevented('--super-read-only'), true],
  ['read-only mode', failed(1836, 'Running in read-only mode'), true],
  ['another option', prevented('--secure-file-priv'), false],
  ['a read-only transaction', failed(1792, 'Cannot execute statement in a READ ONLY transaction'), false],
])('tells a read-only server from other refusals: %s', (_what, error, expected) => {
  expect(isReadOnly(error)).toBe(expected);
});

it('forgets a refusal after its time, and logs each reason once until then', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  const refuse = (failure: unknown) => {
    refusedWrites.noteFailure(failure);
    return refusedWrites.state;
  };
  const stateAfter = (ms: number) => {
    vi.advanceTimersByTime(ms);
    return refusedWrites.state;
  };

  expect(refuse(failed(1062, 'Duplicate entry'))).toBe('ok');
  expect(refuse(prevented('--read-only'))).toBe('read_only');
  expect(stateAfter(15_000)).toBe('read_only');
  // The time counts from the last refusal.
  expect(refuse(prevented('--read-only'))).toBe('read_only');
  expect([stateAfter(19_999), stateAfter(1)]).toEqual(['read_only', 'ok']);
  expect(refuse(prevented('--read-only'))).toBe('read_only');
  expect(refuse(failed(1021, 'Disk full'))).toBe('full');
  expect([stateAfter(59_999), stateAfter(1)]).toEqual(['full', 'ok']);
  expect(error.mock.calls.map(([text]) => String(text).split(':')[0])).toEqual([
    'the database is read-only',
    'the database is read-only',
    'the disk of the database is full',
  ]);
});
