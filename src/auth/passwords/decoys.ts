import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { UsersRepository } from '../../users/users.repository.js';
import { DerivedMacs } from '../tokens/derived-keys.js';
import { KeyRing } from '../tokens/signing-keys.js';
import { decoyEnding, readForeignHash, VERIFIED } from './foreign-hashes.js';
import { readArgon2Cost, unknownPasswordHash } from './hash-engines.js';

const PERIOD_MS = 600_000;
const MIN_PERIOD_MS = 60_000;
/** A million users are a thousand pages: at most a fifth of the time of one connection, for half a minute. */
const PAGE = 1000;
const PAUSE_PER_PAGE = 4;
/** A decoy costs a MAC for each kind. A kind that has none reveals its users. */
const MAX_KINDS = 100;

/** A hash of the same family and cost that no password is known for. Undefined if `hash` cannot be verified. */
export function decoyLike(hash: string): string | undefined {
  const foreign = readForeignHash(hash);
  if (foreign) return foreign.isWithin(VERIFIED) ? foreign.decoy : undefined;
  const cost = readArgon2Cost(hash);
  return (
    cost && `$argon2id$v=19$m=${cost.memoryKib},t=${cost.timeCost},p=${cost.parallelism}${decoyEnding()}`
  );
}

type Shares = ReadonlyMap<string, number>;

/** Weighted rendezvous hashing: if shares change, no more emails change their decoy than must. */
export function chooseDecoy(shares: Shares, macOf: (decoy: string) => Buffer): string {
  const scored = [...shares].map(([decoy, users]) => {
    const uniform = (macOf(decoy).readUIntBE(0, 6) + 1) / 2 ** 48;
    return { decoy, score: Math.log(uniform) / users };
  });
  return scored.reduce((best, one) => (one.score > best.score ? one : best)).decoy;
}

/** What unknown emails verify at a login, in the shares of the users' kinds: the time reveals no user. */
@Injectable()
export class Decoys implements OnApplicationShutdown {
  private readonly logger = new Logger('Decoys');
  private readonly macs: DerivedMacs;
  private readonly stopping = new AbortController();
  /** numbers of users by decoy, which also names the kind of their hashes */
  private shares: Shares;
  private readAt = 0;
  private running: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly users: UsersRepository,
    keys: KeyRing,
    { argon2 }: Env,
  ) {
    this.macs = new DerivedMacs(keys, 'login decoys');
    this.shares = new Map([[decoyLike(unknownPasswordHash(argon2))!, 1]]);
  }

  start(): void {
    this.running ??= this.read().finally(() => {
      this.running = undefined;
      // Jitter, so that instances do not read at once.
      this.timer = setTimeout(() => this.start(), PERIOD_MS * (0.75 + Math.random() / 2)).unref();
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
    clearTimeout(this.timer);
  }

  /** Uses the oldest key: a rotation would give most emails another decoy at once, and users keep their hashes. */
  find(email: string): string {
    return chooseDecoy(this.shares, (decoy) => this.macs.accepted(`${decoy} ${email}`).at(-1)!);
  }

  /** Counts again if the hash of a user is of a kind that was not there, as after an import. */
  note(decoy: string): void {
    const isRecent = Date.now() - this.readAt < MIN_PERIOD_MS;
    if (isRecent || this.shares.has(decoy) || this.shares.size === MAX_KINDS) return;
    clearTimeout(this.timer);
    this.start();
  }

  private async read(): Promise<void> {
    this.readAt = Date.now();
    try {
      const counts = new Map<string, number>();
      for (let last: string | undefined = ''; last !== undefined;) last = await this.count(counts, last);
      const most = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MAX_KINDS);
      if (most.length > 0) this.shares = new Map(most);
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.logger.warn({ msg: 'the kinds of password hashes could not be counted', err: error });
    }
  }

  /** Counts a page, and returns its last id. Undefined if it was the last page. */
  private async count(counts: Map<string, number>, after: string): Promise<string | undefined> {
    const began = performance.now();
    const kinds = await this.users.countHashKinds(after, PAGE);
    for (const { hash, users } of kinds) {
      const decoy = decoyLike(hash);
      if (decoy !== undefined) counts.set(decoy, (counts.get(decoy) ?? 0) + Number(users));
    }
    if (kinds.reduce((sum, { users }) => sum + Number(users), 0) < PAGE) return undefined;
    const pauseMs = PAUSE_PER_PAGE * (performance.now() - began);
    await sleep(pauseMs, undefined, { ref: false, signal: this.stopping.signal });
    return kinds.reduce((max, { last }) => (last > max ? last : max), after);
  }
}
