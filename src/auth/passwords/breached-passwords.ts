import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { FairSlots } from '../../database/transactions/fair-slots.js';
import { ValidationProblem } from '../../problems/problem.js';
import { isInRange, type RangeSource, rangeSource, UnusableRangeError } from './pwned-ranges.js';

export const BREACHED_PASSWORD = 'is known from a data breach; choose another';

const PREFIX_LENGTH = 5;
const TIMEOUT_MS = 1000;
const MAX_RUNNING = 32;
const MAX_WAITING = 1000;
const WARN_EVERY_MS = 60_000;

/** Looks passwords up by the first 20 bits of their SHA-1, which alone leave the process (k-anonymity). */
@Injectable()
export class BreachedPasswords {
  private readonly logger = new Logger('Passwords');
  private readonly read: RangeSource | undefined;
  private readonly slots: FairSlots;
  private warnedAt = Number.NEGATIVE_INFINITY;
  degraded = false;

  constructor({ pwnedPasswords }: Env) {
    this.read = pwnedPasswords && rangeSource(pwnedPasswords);
    this.slots = new FairSlots({
      max: MAX_RUNNING,
      maxOfKey: MAX_RUNNING / 2,
      maxWaiting: MAX_WAITING,
      maxWaitMs: TIMEOUT_MS,
      refuse: () => new UnusableRangeError('too many checks at once'),
    });
  }

  /** Call it after all cheaper checks, and before hashing. @throws password_breached */
  async refuse(field: string, password: string, key: string): Promise<void> {
    if (!(await this.isBreached(password, key))) return;
    throw new ValidationProblem([{ field, message: BREACHED_PASSWORD }], 'password_breached');
  }

  /** Returns undefined if the list cannot be read within a second. @param password normalized */
  async isBreached(password: string, key: string): Promise<boolean | undefined> {
    const { read } = this;
    if (!read) return undefined;
    const hash = createHash('sha1').update(password, 'utf8').digest('hex').toUpperCase();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const list = await within(
        signal,
        this.slots.run(key, () => read(hash.slice(0, PREFIX_LENGTH), signal)),
      );
      const found = isInRange(list, hash.slice(PREFIX_LENGTH));
      this.degraded = false;
      return found;
    } catch (error) {
      this.noteFailure(error);
      return undefined;
    }
  }

  private noteFailure(error: unknown): void {
    this.degraded = true;
    const now = performance.now();
    if (now - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = now;
    const msg = 'the list of breached passwords cannot be read; passwords are accepted unchecked';
    this.logger.warn({ msg, error: wordsOf(error) });
  }
}

function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new UnusableRangeError('no answer within 1 s')));
  });
  return Promise.race([work, late]);
}

/** Messages of the system name the file or the URL, and so the prefix. */
function wordsOf(error: unknown): string {
  if (error instanceof UnusableRangeError) return error.message;
  const { code, cause, name } = error as NodeJS.ErrnoException;
  return code ?? (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
}
