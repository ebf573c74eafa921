import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { MovableClock } from '../support/clock.js';
import { aPassword, anEmail } from '../support/personas.js';
import { asRecord, asString, clientOf, type Send } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';
import { ENGINES, RestartableService, Storage, UNLIMITED } from './support/deployment.js';

/** On each engine: 3600 for an hour. */
const SECONDS = Number(process.env['FEED_STORM_SECONDS'] ?? 30);
const MAX_SKEW_MS = 600_000;
const MAX_FROZEN_MS = 3000;
const MAX_PEACE_MS = 1500;
const MAX_STEADY_MS = 500;
const ORGS = 4;
const WRITERS_OF_ORG = 2;
const WRITER_PAUSE_MS = 50;
const READERS = 3;

interface Writer {
  path: string;
  token: string;
}

/** One instance, with a clock of its own. */
interface Victim {
  clock: MovableClock;
  service: RestartableService;
}

describe.each(ENGINES)(`a storm of ${SECONDS} seconds on %s`, (engine) => {
  let storage: Storage;
  let victims: Victim[] = [];

  afterEach(async () => {
    for (const { service } of victims) {
      process.kill(service.pid, 'SIGCONT');
      await service.kill();
    }
    await storage.close();
  });

  it(
    'of kills, freezes and clocks that jump leaves every reader with the record, row by row',
    { timeout: SECONDS * 1000 + 600_000 },
    async () => {
      const random = new Random(seedOfRun(`a storm on ${engine}`));
      storage = await Storage.on(engine);
      victims = [];
      for (let size = storage.isServer ? 3 : 1; size > 0; size -= 1) victims.push(await aVictim(storage));
      const urls = victims.map(({ service }) => service.url);
      const billing = await aServiceClient(storage.installation.db, ['events']);
      const writers = await prepare(clientOf(...urls));
      const readers = times(READERS, () => new FeedReader(billing.authorization, ...urls));
      for (const reader of readers) reader.begin();

      const over = new AbortController();
      const ledger = new Ledger();
      const writing = writers.map((writer, place) => {
        const order = urls.map((_, turn) => urls[(place + turn) % urls.length]!);
        return write(clientOf(...order), writer, ledger, over.signal);
      });
      const until = performance.now() + SECONDS * 1000;
      const faults = await Promise.all(
        victims.flatMap((victim) => [strike(victim, random, until), shift(victim, random, until)]),
      );
      over.abort();
      await Promise.all(writing);
      for (const reader of readers) await reader.end();

      const faultsHeard = await faultsOfReaders(storage.installation.db, billing.name, readers);
      const wrong = [...ledger.wrong, ...faultsHeard];
      const lost = await ledger.lost(storage);
      report({
        faults: faults.reduce((sum, count) => sum + count),
        requests: ledger.requests + readers.reduce((sum, { answers }) => sum + answers, 0),
        acknowledged: ledger.acknowledged,
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
});

async function aVictim(storage: Storage): Promise<Victim> {
  const clock = new MovableClock();
  // Sessions begin while it is as early as it will ever be.
  clock.moveOn(-MAX_SKEW_MS);
  const service = await RestartableService.on(storage, { ...UNLIMITED, NODE_OPTIONS: clock.option });
  await service.start(hangTimeoutMs());
  return { clock, service };
}

async function prepare(send: Send): Promise<Writer[]> {
  const writers: Writer[] = [];
  for (let place = 0; place < ORGS; place += 1) {
    const body = { email: anEmail(), password: aPassword() };
    const token = asString((await send('POST', '/api/auth/register', { body })).body['token']);
    const created = await send('POST', '/api/orgs', { token, body: { name: 'Storm' } });
    const path = `/api/orgs/${asString(asRecord(created.body['org'])['id'])}`;
    writers.push(...times(WRITERS_OF_ORG, () => ({ path, token })));
  }
  return writers;
}

/** the answers to writers */
class Ledger {
  readonly wrong: string[] = [];
  requests = 0;
  acknowledged = 0;

  async lost(storage: Storage): Promise<number> {
    const [row] = await storage.query("SELECT COUNT(*) AS renamed FROM events WHERE type = 'org.renamed'");
    return Math.max(0, this.acknowledged - Number(row!['renamed']));
  }
}

async function write(send: Send, { path, token }: Writer, ledger: Ledger, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    ledger.requests += 1;
    const body = { name: `Storm ${ledger.requests}` };
    const answer = await send('PATCH', path, { token, body, timeoutMs: 5000 }).catch(() => undefined);
    if (answer?.status === 200) ledger.acknowledged += 1;
    else if (answer && answer.status !== 503) ledger.wrong.push(`${answer.status} ${answer.code} at ${path}`);
    await sleep(WRITER_PAUSE_MS);
  }
}

/** Until time is over, and everything runs again; returns how many faults there were. */
async function strike({ service }: Victim, random: Random, until: number): Promise<number> {
  let faults = 0;
  for (; performance.now() < until; faults += 1) {
    await sleep(random.between(0, MAX_PEACE_MS));
    const kind = random.pick(['kill', 'kill while it starts', 'freeze']);
    if (kind === 'freeze') {
      process.kill(service.pid, 'SIGSTOP');
      await sleep(random.between(1, MAX_FROZEN_MS));
      process.kill(service.pid, 'SIGCONT');
    } else {
      await service.kill();
      if (kind === 'kill while it starts') {
        service.launch();
        await sleep(random.between(0, MAX_PEACE_MS));
        await service.kill();
      }
      await service.start(hangTimeoutMs());
    }
  }
  return faults;
}

/** Returns how often the clock has jumped. */
async function shift({ clock }: Victim, random: Random, until: number): Promise<number> {
  let jumps = 0;
  for (; performance.now() < until; jumps += 1) {
    await sleep(random.between(0, MAX_STEADY_MS));
    clock.moveOn(random.between(-MAX_SKEW_MS, MAX_SKEW_MS) - clock.ahead);
  }
  return jumps;
}
