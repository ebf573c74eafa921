import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { MovableClock } from '../support/clock.js';
import type { Org } from '../support/personas.js';
import { clientOf, type Send } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import {
  askOf,
  closeAfterTest,
  countOf,
  ENGINES,
  register,
  type RestartableService,
  startAt,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { faultsAtTheEnd, FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';

/** On each engine: 3600 for an hour. */
const SECONDS = Number(process.env['FEED_STORM_SECONDS'] ?? 30);
const MAX_SKEW_MS = 600_000;
const MAX_FROZEN_MS = 3000;
const MAX_PEACE_MS = 1500;
const ORGS = 4;

it.each(ENGINES)(
  `a storm of ${SECONDS} seconds on %s of kills, freezes and clocks that jump leaves every reader with the record, row by row`,
  { timeout: SECONDS * 1000 + 600_000 },
  async (engine) => {
    const random = new Random(seedOfRun(`a storm on ${engine}`));
    const storage = await closeAfterTest(Storage.on(engine));
    const victims: { clock: MovableClock; service: RestartableService }[] = [];
    for (let size = storage.isServer ? 3 : 1; size > 0; size -= 1) {
      const clock = new MovableClock();
      // Sessions begin while it is as early as it will ever be.
      clock.moveOn(-MAX_SKEW_MS);
      const service = await startAt(storage, { ...UNLIMITED, NODE_OPTIONS: clock.option });
      victims.push({ clock, service });
    }
    const urls = victims.map(({ service }) => service.url);
    const billing = await aServiceClient(storage.installation.db, ['events']);
    const places: { path: string; token: string }[] = [];
    for (let place = 0; place < ORGS; place += 1) {
      const send = clientOf(...urls);
      const { token } = await register(send);
      const { org } = await askOf(send)<{ org: Org }>(201, 'POST', '/api/orgs', { name: 'Storm' }, token);
      places.push(...times(2, () => ({ path: `/api/orgs/${org.id}`, token })));
    }
    const readers = times(3, () => new FeedReader(billing, ...victims.map(({ service }) => service)));

    const wrong: string[] = [];
    let [requests, acknowledged] = [0, 0];
    const over = new AbortController();
    const write = async (send: Send, { path, token }: (typeof places)[number]): Promise<void> => {
      for (; !over.signal.aborted; await sleep(50)) {
        requests += 1;
        const options = { token, body: { name: `Storm ${requests}` }, timeoutMs: 5000 };
        const answer = await send('PATCH', path, options).catch(() => undefined);
        if (answer?.status === 200) acknowledged += 1;
        else if (answer && answer.status !== 503) wrong.push(`${answer.status} ${answer.code} at ${path}`);
      }
    };
    const writing = places.map((place, first) => {
      const order = urls.map((_, turn) => urls[(first + turn) % urls.length]!);
      return write(clientOf(...order), place);
    });
    const until = performance.now() + SECONDS * 1000;
    const faults = await Promise.all(
      victims.flatMap(({ clock, service }) => [strike(service, random, until), shift(clock, random, until)]),
    );
    over.abort();
    await Promise.all(writing);

    wrong.push(...(await faultsAtTheEnd(storage.installation.db, readers)));
    const lost = Math.max(0, acknowledged - (await countOf(storage, "events WHERE type = 'org.renamed'")));
    report({
      faults: faults.reduce((sum, count) => sum + count),
      requests: requests + readers.reduce((sum, { answers }) => sum + answers, 0),
      acknowledged,
      wrong: wrong.length,
      lost,
    });
    expect(wrong).toEqual([]);
    expect(lost).toBe(0);
    for (const { ids } of readers) expect(ids).toEqual(readers[0]!.ids);
    const [feed] = await storage.query(
      'SELECT COUNT(*) AS size, MIN(seq) AS oldest, MAX(seq) AS newest FROM feed',
    );
    expect(feed).toEqual({ size: feed!['newest'], oldest: 1, newest: feed!['newest'] });
  },
);

/** Until time is over, and everything runs again; returns how many faults there were. */
async function strike(service: RestartableService, random: Random, until: number): Promise<number> {
  let faults = 0;
  for (; performance.now() < until; faults += 1) {
    await sleep(random.between(0, MAX_PEACE_MS));
    const kind = random.pick(['kill', 'kill while it starts', 'freeze']);
    if (kind === 'freeze') {
      service.freeze();
      await sleep(random.between(1, MAX_FROZEN_MS));
      service.thaw();
      continue;
    }
    await service.kill();
    if (kind === 'kill while it starts') {
      service.launch();
      await sleep(random.between(0, MAX_PEACE_MS));
      await service.kill();
    }
    await service.start();
  }
  return faults;
}

async function shift(clock: MovableClock, random: Random, until: number): Promise<number> {
  let jumps = 0;
  for (; performance.now() < until; jumps += 1) {
    await sleep(random.between(0, 500));
    clock.moveOn(random.between(-MAX_SKEW_MS, MAX_SKEW_MS) - clock.ahead);
  }
  return jumps;
}
