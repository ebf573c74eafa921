import { Logger } from '@nestjs/common';
import { afterEach, expect, it, vi } from 'vitest';
import { Env } from '../../config/env.js';
import { databaseError } from '../../database/transactions/database-errors.js';
import { Heartbeat } from './heartbeat.js';
import type { InstancesRepository, LiveInstance, OwnInstance } from './instances.repository.js';
import { KeyRing, newJwk, keySetText, readKeySet } from './signing-keys.js';

afterEach(() => void vi.useRealTimers());

it('an instance with a wrong clock serves again once no instance has been able to write its row for a while', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  let isReadOnly = false;
  const right = { id: 'another', clockOffset: 0, clockReading: 0 };
  const rows: Partial<LiveInstance>[] = [right];
  const table: Partial<InstancesRepository> = {
    findLive: () => Promise.resolve(rows as LiveInstance[]),
    findTime: () => Promise.resolve(Date.now() - 60_000),
    update: () => (isReadOnly ? Promise.reject(databaseError('READ_ONLY', 'read-only')) : Promise.resolve()),
    insert: (own: OwnInstance) =>
      Promise.resolve(void rows.push({ ...right, ...own, keySet: '', host: 'app' })),
    setDiffersSince: () => Promise.resolve(),
  };
  const keys = new KeyRing(readKeySet(keySetText([newJwk()])));
  const env = { database: { engine: 'mysql' } } as Env;
  const heartbeat = new Heartbeat(table as InstancesRepository, keys, env);
  Object.assign(right, { keySet: '', host: 'app' });

  await heartbeat.run();
  expect(heartbeat.outFor).toBe('clock');
  isReadOnly = true;
  vi.advanceTimersByTime(44_000);
  await expect(heartbeat.run()).rejects.toThrow('read-only');
  expect(heartbeat.outFor).toBe('clock');
  vi.advanceTimersByTime(2000);
  expect(heartbeat.outFor).toBeUndefined();
});
