import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { writeEvents } from '../support/feed.js';
import { anUnknownId } from '../support/personas.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { ENGINES, RestartableService, Storage, UNLIMITED } from './support/deployment.js';
import { StopAtStatement } from './support/stopped-process.js';

const EVENTS = 5;

/** The statements of a round in their order: it is stopped before each of them. */
const STEPS = [
  'SELECT MAX(n.seq)',
  'WHERE e.pending = 1 AND f.seq IS NULL',
  'INSERT INTO feed',
  'SELECT id FROM events WHERE id IN',
  'UPDATE events SET pending = NULL',
  'COMMIT',
] as const;

describe.each(ENGINES)('a round of the feed on %s', (engine) => {
  let storage: Storage;
  let stop: StopAtStatement;
  let service: RestartableService;
  /** on a server, beside the one that is stopped */
  let other: RestartableService | undefined;
  let billing: ServiceClient;
  let reader: FeedReader;

  beforeEach(async () => {
    storage = await Storage.on(engine);
    stop = new StopAtStatement(storage.installation.directory);
    service = await RestartableService.on(storage, { ...UNLIMITED, ...stop.env });
    await service.start(hangTimeoutMs());
    if (storage.isServer) {
      other = await RestartableService.on(storage);
      await other.start(hangTimeoutMs());
    }
    billing = await aServiceClient(storage.installation.db, ['events']);
    reader = new FeedReader(billing.authorization, ...[other ?? service].map(({ url }) => url));
    reader.begin();
  });
  afterEach(async () => {
    process.kill(service.pid, 'SIGCONT');
    await service.kill();
    await other?.kill();
    other = undefined;
    await storage.close();
  });

  function write(): Promise<string[]> {
    const org = anUnknownId();
    return writeEvents(
      storage.installation.db,
      times(EVENTS, (place) => ({ orgId: org, orgRevision: place + 1 })),
    );
  }

  /** Writes events until the service has stopped itself in a round: another instance may number first. */
  async function stopBefore(text: string): Promise<void> {
    stop.arm(text);
    const again = (): void => void (other && write());
    const writing = setInterval(again, 300);
    await write();
    try {
      await stop.stopped(service.pid);
    } finally {
      clearInterval(writing);
    }
  }

  /** Returns what the reader should not have got, or lacks, once it has read everything. */
  async function faultsAtTheEnd(): Promise<string[]> {
    await reader.end();
    report({ faults: STEPS.length, requests: reader.answers, wrong: reader.wrong.length });
    return faultsOfReaders(storage.installation.db, billing.name, [reader]);
  }

  it(
    'is killed before each of its statements, and nothing is missing or comes twice',
    { timeout: 300_000 },
    async () => {
      for (const text of STEPS) {
        await stopBefore(text);
        await service.kill();
        if (other) await write();
        await service.start(hangTimeoutMs());
        await write();
      }
      expect(await faultsAtTheEnd()).toEqual([]);
      expect(reader.heard.length).toBeGreaterThanOrEqual(EVENTS * STEPS.length);
    },
  );

  it('is frozen before each of its statements while others go on, and nothing is missing or comes twice', async () => {
    for (const text of STEPS) {
      await stopBefore(text);
      if (other) {
        const before = reader.heard.length;
        await write();
        await waitFor('the reader hears more', hangTimeoutMs(), () => reader.heard.length > before);
      }
      process.kill(service.pid, 'SIGCONT');
      await write();
    }
    expect(await faultsAtTheEnd()).toEqual([]);
    expect(reader.heard.length).toBeGreaterThanOrEqual(EVENTS * STEPS.length);
  });
});
