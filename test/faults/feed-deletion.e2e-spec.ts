import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { writeEvents } from '../support/feed.js';
import { holdInnodbRows } from '../support/held-rows.js';
import { type Account, anAccount, anUnknownId } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { RestartableService, startInstances, stopAll, Storage, UNLIMITED } from './support/deployment.js';
import { StopAtStatement } from './support/stopped-process.js';

const BATCHES = 4;
const ACCOUNTS = 6;
const EVENTS = 300;
/** Longer than it takes until marks are cleared. */
const SPREAD_MS = 1800;

interface Place {
  storage: Storage;
  instances: readonly Instance[];
  /** until all nodes have the same data */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const PLACES: Record<string, () => Promise<Place>> = {
  mariadb: async () => {
    const storage = await Storage.on('mariadb');
    const instances = await startInstances(storage.installation, [UNLIMITED, UNLIMITED]);
    const close = async (): Promise<void> => {
      await stopAll(instances);
      await storage.close();
    };
    return { storage, instances, settle: async () => undefined, close };
  },
  galera: async () => {
    const galera = await GaleraService.start({ nodes: 2, env: UNLIMITED });
    const { storage, instances, cluster } = galera;
    return { storage, instances, settle: () => cluster.waitUntilEqual(), close: () => galera.stop() };
  },
};

/** Writes events of one organization about an account. */
function writeAbout({ db }: Storage['installation'], { id }: Account, size = EVENTS): Promise<string[]> {
  const orgId = anUnknownId();
  const type = 'member.role_changed';
  return writeEvents(
    db,
    times(size, (place) => ({ type, orgId, orgRevision: place + 1, userId: id })),
  );
}

async function leave(account: Account): Promise<number> {
  return (await account.delete('/api/me', { password: account.password })).status;
}

describe.each(Object.keys(PLACES))(
  'accounts that are deleted while their events are numbered on %s',
  (name) => {
    let place: Place;

    afterEach(() => place.close());

    it('are deleted at the first request, and nothing is missing from the feed', async () => {
      place = await PLACES[name]!();
      const { storage, instances } = place;
      const { db } = storage.installation;
      const billing = await aServiceClient(db, ['events']);
      await place.settle();
      const on = (turn: number): Instance => instances[turn % instances.length]!;
      const reader = new FeedReader(billing.authorization, ...instances.map(({ url }) => url));
      reader.begin();
      const statuses: number[] = [];
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const accounts = await Promise.all(times(ACCOUNTS, (turn) => anAccount(on(turn))));
        await place.settle();
        await Promise.all(accounts.map((account) => writeAbout(storage.installation, account)));
        const deletions = accounts.map(async (account, turn) => {
          await sleep((turn * SPREAD_MS) / ACCOUNTS);
          return leave(account.at(on(turn + 1)));
        });
        statuses.push(...(await Promise.all(deletions)));
      }
      await reader.end();
      await place.settle();

      const refused = statuses.filter((status) => status !== 200);
      const faults = await faultsOfReaders(db, billing.name, [reader]);
      report({
        faults: BATCHES,
        requests: statuses.length,
        acknowledged: reader.heard.length,
        wrong: refused.length + faults.length,
        lost: 0,
      });
      expect(refused).toEqual([]);
      expect(faults).toEqual([]);
      expect(await db.query('SELECT id FROM events WHERE ip IS NOT NULL AND org_id IS NOT NULL')).toEqual([]);
    });
  },
);

describe('the marks of numbered events', { timeout: 600_000 }, () => {
  let storage: Storage;
  let stop: StopAtStatement;
  /** can be stopped at a statement */
  let stopped: RestartableService;
  let instances: Instance[];
  let billing: ServiceClient;
  let reader: FeedReader;
  let account: Account;

  afterEach(async () => {
    process.kill(stopped.pid, 'SIGCONT');
    await stopped.kill();
    await stopAll(instances);
    await storage.close();
  });

  async function start(): Promise<void> {
    storage = await Storage.on('mariadb');
    stop = new StopAtStatement(storage.installation.directory);
    instances = await startInstances(storage.installation, [UNLIMITED]);
    stopped = await RestartableService.on(storage, { ...UNLIMITED, ...stop.env });
    await stopped.start(hangTimeoutMs());
    billing = await aServiceClient(storage.installation.db, ['events']);
    reader = new FeedReader(billing.authorization, instances[0]!.url);
    reader.begin();
    account = await anAccount(instances[0]!);
  }

  const marked = (where: string, ...values: string[]) =>
    storage.installation.db.query(`SELECT id FROM events WHERE pending = 1 AND ${where}`, values);

  /** The clean-up, once in a minute or so, finds those that were locked. */
  async function untilNoneIsMarked(): Promise<void> {
    const isNone = async (): Promise<boolean> => (await marked('1 = 1')).length === 0;
    await waitFor('no event is marked', 4 * hangTimeoutMs(), isNone, 500);
  }

  async function faultsAtTheEnd(): Promise<string[]> {
    await reader.end();
    const { db } = storage.installation;
    const faults = await faultsOfReaders(db, billing.name, [reader]);
    const { length } = reader.heard;
    report({ faults: 1, requests: reader.answers, acknowledged: length, wrong: faults.length, lost: 0 });
    return faults;
  }

  it('are waited for by the deletion of an account, where an instance is frozen while it clears them', async () => {
    await start();
    stop.arm('UPDATE events SET pending = NULL');
    // The other instance may number first.
    const writing = setInterval(() => void writeAbout(storage.installation, account, 10), 300);
    try {
      await stop.stopped(stopped.pid);
    } finally {
      clearInterval(writing);
    }
    const locks = await holdInnodbRows(storage.installation);
    const deletion = leave(account);
    await locks.untilOneWaits();
    process.kill(stopped.pid, 'SIGCONT');
    expect(await deletion).toBe(200);
    await locks.rollback();
    expect(await faultsAtTheEnd()).toEqual([]);
    await untilNoneIsMarked();
  });

  it('are cleared later where the deletion of an account has locked them, and at once where not', async () => {
    await start();
    const other = await anAccount(instances[0]!);
    await writeAbout(storage.installation, account);
    const deletion = await holdInnodbRows(storage.installation);
    await deletion.write('UPDATE events SET ip = NULL WHERE user_id = ?', [account.id]);
    await writeAbout(storage.installation, other);

    const isOthers = 'user_id <> ?';
    await waitFor('the marks of others are cleared', hangTimeoutMs(), async () => {
      return (await marked(isOthers, account.id)).length === 0;
    });
    expect((await marked('user_id = ?', account.id)).length).toBeGreaterThanOrEqual(EVENTS);
    await deletion.commit();
    expect(await faultsAtTheEnd()).toEqual([]);
    await untilNoneIsMarked();
  });
});
