import { setTimeout as sleep } from 'node:timers/promises';
import type { RestartableService } from './deployment.js';

/** What a client does, again and again; it ends early where `isOver`. */
export type Deed = (isOver: () => boolean) => Promise<void>;

/** Kills the service in the middle of what its clients do, and starts it again. */
export async function killDuring(
  service: RestartableService,
  deeds: readonly Deed[],
  afterMs: number,
): Promise<void> {
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
  await sleep(afterMs);
  life.abort();
  await service.kill();
  await Promise.all(work);
  await service.start();
}
