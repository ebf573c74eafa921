import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyThroughKills, idsIn, idsInFeed } from '../support/event-copies.js';
import { ENGINES, startOn } from './support/deployment.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';

const ROUNDS = 100;

it.each(ENGINES)(
  'a copy of the audit log on %s that is killed at random loses no event and has none twice',
  { timeout: 900_000 },
  async (engine) => {
    const { installation } = (await startOn(engine)).storage;
    const { db, directory } = installation;
    const file = join(directory, 'events.jsonl');
    const random = new Random(seedOfRun(`kill -9 of a copy of the audit log on ${engine}`));

    const sizes = await copyThroughKills({
      installation,
      db,
      file,
      rounds: ROUNDS,
      random: (most) => random.between(0, most),
    });

    const [copied, expected] = [await idsIn(file), await idsInFeed(db)];
    report({
      faults: ROUNDS,
      acknowledged: expected.length,
      lost: expected.length - new Set(copied).size,
      wrong: copied.length - new Set(copied).size,
    });
    expect(copied).toEqual(expected);
    expect(new Set(sizes).size).toBeGreaterThan(ROUNDS / 2);
  },
);
