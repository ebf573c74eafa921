import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { UnavailableError } from '../problems/problem.js';
import { isLostConflict } from './database-errors.js';

const RETRIES = 5;
const FIRST_PAUSE_MS = 10;

/** Runs units of work that several statements make up. */
@Injectable()
export class Transactions {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs the work in one transaction and resolves after COMMIT. Work that lost a conflict is run again, so
   * it must have no effect outside the database: no hashing, no mail, nothing that answers the client.
   *
   * @throws UnavailableError when every attempt lost
   */
  async run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.dataSource.transaction(work);
      } catch (error) {
        if (!isLostConflict(error)) throw error;
        if (attempt === RETRIES) {
          throw new UnavailableError(
            'Too many others are changing the same thing; repeat the request.',
            1,
            error,
          );
        }
        await sleep(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()));
      }
    }
  }
}
