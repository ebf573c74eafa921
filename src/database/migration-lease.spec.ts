import type { DataSource } from 'typeorm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MigrationLeaseLostError, withMigrationLease } from './migrate.js';

/** of the 30 seconds that it holds: then nobody else has it yet */
const GIVEN_UP_AFTER_MS = 25_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server on which renewals are never answered, such as one behind a network that was cut off. */
const SILENT = {
  query: (sql: string) =>
    /SET expires_at = CAST/.test(sql) ? new Promise(() => undefined) : Promise.resolve({ affectedRows: 1 }),
} as unknown as DataSource;

it('is given up before it runs out, and not while there is time, where it cannot be renewed', async () => {
  let outcome: unknown;
  const working = Promise.withResolvers<void>();
  const lease = withMigrationLease(SILENT, () => {
    working.resolve();
    return new Promise(() => undefined);
  }).catch((error: unknown) => {
    outcome = error;
  });
  await working.promise;

  await vi.advanceTimersByTimeAsync(GIVEN_UP_AFTER_MS - 1);
  expect(outcome).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(outcome).toBeInstanceOf(MigrationLeaseLostError);
  await lease;
});
