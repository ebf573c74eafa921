import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountsJson } from '../support/accounts-command.js';
import { cursorExpired, invalidToken } from '../support/expected.js';
import { readFeed, readFeedAfter, writeEvents } from '../support/feed.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount, anOrgOf } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { aServiceCaller, type ServiceCaller } from '../support/service-caller.js';

describe('accounts after-restore', () => {
  let installation: Installation;
  let service: Instance;
  let reader: ServiceCaller;
  let owner: Account;
  let cursors: string[];
  let cursorOfNothing: string;

  beforeAll(async () => {
    installation = await anInstallation();
    service = await startOwnService({ installation });
    reader = await aServiceCaller(service, 'events');
    owner = await anAccount(service);
    const { next } = await readFeed(reader);
    await anOrgOf(owner);
    const events = await readFeedAfter(reader, next);
    cursors = [next, events.at(-1)!.id];
    await service.stop();
    await writeEvents(installation.db, [{}]);
    await accountsJson(installation, ['after-restore', '--reason', 'a test']);
    service = await startOwnService({ installation });
  });
  afterAll(async () => {
    await service.stop();
    await installation.remove();
  });

  it('has every cursor refused', async () => {
    for (const cursor of cursors) {
      for (const wait of [0, 15]) {
        const path = `/api/events?after=${cursor}&wait=${wait}`;
        expect(await reader.at(service).get(path)).toMatchObject(cursorExpired);
      }
    }
  });

  it('begins the feed with what is recorded from then on', async () => {
    const here = reader.at(service);
    const { events, next } = await readFeed(here);
    expect(events).toEqual([]);
    expect(await readFeed(here, { after: 'start' })).toEqual({ events: [], next });
    cursorOfNothing = next;
    const ada = await anAccount(service);

    for (const after of ['start', next]) {
      const page = await readFeed(here, { after, wait: 15 });
      expect(page.events.map(({ userId }) => userId)).toEqual([ada.id, ada.id]);
    }
  });

  it('ends every session, also those of epochs that the database has forgotten', async () => {
    expect(await owner.at(service).get('/api/me')).toMatchObject(invalidToken);
    const [user] = await installation.db.query('SELECT auth_epoch AS epoch FROM users WHERE id = ?', [
      owner.id,
    ]);
    expect(Number(user!['epoch'])).toBeGreaterThan(1000);
  });

  it('has the cursor of an empty feed refused, too, where it is run again', async () => {
    await service.stop();
    await accountsJson(installation, ['after-restore', '--reason', 'another']);
    service = await startOwnService({ installation });
    const answer = await reader.at(service).get(`/api/events?after=${cursorOfNothing}`);
    expect(answer).toMatchObject(cursorExpired);
  });

  it('is told to whoever reads the record', async () => {
    const ended = await accountsJson<{ reason: string }>(installation, ['events', '--type', 'session.ended']);
    expect(ended.map(({ reason }) => reason)).toContain('a test');
  });
});
