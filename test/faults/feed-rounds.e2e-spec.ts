import { describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { type WrittenEvent, writeEvents } from '../support/feed.js';
import { holdInnodbRows } from '../support/held-rows.js';
import { type Account, anAccount, anUnknownId } from '../support/personas.js';
import { asRecords, clientOf, type Reply } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import {
  closeAfterTest,
  countOf,
  ENGINES,
  startAt,
  startInstance,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { faultsAtTheEnd, feedFaults, FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { StoppableService } from './support/stopped-process.js';

const EVENTS = 5;

function writeTo({ installation }: Storage, size = EVENTS, about: WrittenEvent = {}): Promise<string[]> {
  const orgId = anUnknownId();
  const events = times(size, (place) => ({ ...about, orgId, orgRevision: place + 1 }));
  return writeEvents(installation.db, events);
}

describe.each(ENGINES)('a round of the feed on %s', { timeout: 300_000 }, (engine) => {
  /** The statements of a round in their order: it is stopped before each of them. */
  const steps = [
    'SELECT MAX(n.seq)',
    'WHERE e.pending = 1 AND f.seq IS NULL',
    'INSERT INTO feed',
    'SELECT id FROM events WHERE id IN',
    'UPDATE events SET pending = NULL',
    'COMMIT',
  ];

  it.each(['killed', 'frozen, and others go on,'] as const)(
    'is %s before each of its statements, and nothing is missing or comes twice',
    async (fault) => {
      const storage = await closeAfterTest(Storage.on(engine));
      const stopped = await StoppableService.on(storage);
      const other = storage.isServer ? await startAt(storage) : undefined;
      const client = await aServiceClient(storage.installation.db, ['events']);
      const reader = new FeedReader(client, other ?? stopped.process);
      const write = () => writeTo(storage);
      for (const text of steps) {
        await stopped.stopInARound(text, write, !other);
        if (fault === 'killed') await stopped.process.kill();
        const before = reader.heard.length;
        if (other) {
          await write();
          await waitFor('the reader hears more', hangTimeoutMs(), () => reader.heard.length > before);
        }
        if (fault === 'killed') await stopped.process.start();
        else stopped.process.thaw();
        await write();
      }
      expect(await faultsAtTheEnd(storage.installation.db, [reader])).toEqual([]);
      report({ faults: steps.length, requests: reader.answers, wrong: reader.wrong.length });
      expect(reader.heard.length).toBeGreaterThanOrEqual(EVENTS * steps.length);
    },
  );
});

it('a round that loses its places to another numbers what the other has not seen, before its page is answered', async () => {
  const [rounds, numbering] = [5, 'INSERT INTO feed'];
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const { db } = storage.installation;
  const winner = await StoppableService.on(storage);
  const loser = await StoppableService.on(storage);
  const { name, authorization } = await aServiceClient(db, ['events']);
  const read = (): Promise<Reply> => {
    const options = { headers: { authorization }, timeoutMs: hangTimeoutMs() };
    return clientOf(loser.process.url)('GET', '/api/events?after=start&limit=1000', options);
  };
  const missing: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    loser.process.freeze();
    winner.stopBefore(numbering);
    const [first] = await writeTo(storage);
    await winner.untilStopped();
    // Committed after the winner has looked.
    const [late] = await writeTo(storage, 1);
    loser.stopBefore(numbering);
    loser.process.thaw();
    const page = read();
    await loser.untilStopped();

    winner.process.thaw();
    await waitFor('the winner has numbered', hangTimeoutMs(), async () => {
      return (await countOf(db, 'feed WHERE event_id = ?', [first!])) > 0;
    });
    // Or it would number what the loser lost.
    winner.process.freeze();
    loser.process.thaw();
    let answer = await page;
    // It was frozen for longer than an answer may take.
    while (answer.status === 503) answer = await read();
    const events = asRecords(answer.body['events']);
    if (!events.some(({ id }) => id === late)) missing.push(`${answer.status} without ${late}`);
    winner.process.thaw();
  }
  const faults = await feedFaults(db, name, asRecords((await read()).body['events']));
  const [acknowledged, wrong] = [rounds * (EVENTS + 1), missing.length + faults.length];
  report({ faults: rounds, requests: rounds, acknowledged, wrong, lost: faults.length });
  expect(missing).toEqual([]);
  expect(faults).toEqual([]);
});

describe('the marks of numbered events', { timeout: 600_000 }, () => {
  const size = 300;

  async function start() {
    const storage = await closeAfterTest(Storage.on('mariadb'));
    const { db } = storage.installation;
    const instance = await closeAfterTest(startInstance(storage.installation, UNLIMITED));
    const stopped = await StoppableService.on(storage);
    const reader = new FeedReader(await aServiceClient(db, ['events']), instance);
    const marked = (where: string, ...values: string[]) =>
      countOf(db, `events WHERE pending = 1 AND ${where}`, values);
    const writeAbout = ({ id }: Account, count = size) =>
      writeTo(storage, count, { type: 'member.role_changed', userId: id });
    const end = async (): Promise<void> => {
      expect(await faultsAtTheEnd(db, [reader])).toEqual([]);
      // The clean-up, once in a minute or so, finds those that were locked.
      const isNone = async (): Promise<boolean> => (await marked('1 = 1')) === 0;
      await waitFor('no event is marked', 4 * hangTimeoutMs(), isNone, 500);
      report({ faults: 1, requests: reader.answers, acknowledged: reader.heard.length, wrong: 0, lost: 0 });
    };
    return { storage, instance, stopped, account: await anAccount(instance), marked, writeAbout, end };
  }

  it('are waited for by the deletion of an account, where an instance is frozen while it clears them', async () => {
    const { storage, stopped, account, writeAbout, end } = await start();
    await stopped.stopInARound('UPDATE events SET pending = NULL', () => writeAbout(account, 10));
    const locks = await holdInnodbRows(storage.installation);
    const deletion = account.delete('/api/me', { password: account.password });
    await locks.untilOneWaits();
    stopped.process.thaw();
    expect((await deletion).status).toBe(200);
    await locks.rollback();
    await end();
  });

  it('are cleared later where the deletion of an account has locked them, and at once where not', async () => {
    const { storage, instance, account, marked, writeAbout, end } = await start();
    const other = await anAccount(instance);
    await writeAbout(account);
    const deletion = await holdInnodbRows(storage.installation);
    await deletion.write('UPDATE events SET ip = NULL WHERE user_id = ?', [account.id]);
    await writeAbout(other);

    await waitFor('the marks of others are cleared', hangTimeoutMs(), async () => {
      return (await marked('user_id <> ?', account.id)) === 0;
    });
    expect(await marked('user_id = ?', account.id)).toBeGreaterThanOrEqual(size);
    await deletion.commit();
    await end();
  });
});
