import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { isDatabaseUnreachable } from './transactions/database-errors.js';

const PAUSE_MS = 1000;
const REPORT_EVERY = 10;

/** For reads of the start: a cluster that has just lost nodes may answer at first, and wait for them at any later one. */
export async function onceReachable<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (err) {
      if (!isDatabaseUnreachable(err)) throw err;
      if (attempt % REPORT_EVERY === 0) new Logger('Database').warn({ msg: 'waiting for the database', err });
      await sleep(PAUSE_MS);
    }
  }
}
