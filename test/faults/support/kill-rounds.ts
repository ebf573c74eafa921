import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../../support/engine.js';
import type { Environment } from '../../support/service-process.js';
import { startOn } from './deployment.js';
import { Random, seedOfRun } from './random.js';

/** What a client does, again and again; it ends early where `isOver`. */
export type Deed = (isOver: () => boolean) => Promise<unknown>;

export const KILLS = 8;

/** A service on an engine until the test ends, to be killed in the middle of what its clients do. */
export async function startToKill(engine: Engine, what: string, env?: Environment) {
  const random = new Random(seedOfRun(`kill -9 of ${what} on ${engine}`));
  const started = await startOn(engine, env);

  /** Kills the service after a time between these, and starts it again. @returns how many milliseconds that took */
  async function killDuring(deeds: readonly Deed[], leastMs: number, mostMs: number): Promise<number> {
    const life = new AbortController();
    const isOver = (): boolean => life.signal.aborted;
    const work = deeds.map(async (deed) => {
      try {
        while (!isOver()) await deed(isOver);
      } catch (error) {
        // What the dying process was asked has no answer; anything else is a wrong one.
        if (!isOver()) throw error;
      }
    });
    await sleep(random.between(leastMs, mostMs));
    life.abort();
    await started.service.kill();
    await Promise.all(work);
    return started.service.start();
  }
  return { ...started, random, killDuring };
}
