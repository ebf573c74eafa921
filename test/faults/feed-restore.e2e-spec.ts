import { afterEach, describe, expect, it } from 'vitest';
import { accountsJson } from '../support/accounts-command.js';
import { cursorExpired, invalidRefreshToken, invalidToken } from '../support/expected.js';
import { readFeed, untilNumbered } from '../support/feed.js';
import { type Account, anAccount, anOrgOf, type Org } from '../support/personas.js';
import { aRefreshableLogin, refresh, type Tokens } from '../support/refreshing.js';
import type { Instance } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';
import { Backup } from './support/backup.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { ENGINES, startInstance, Storage, UNLIMITED } from './support/deployment.js';

const CHANGES = 20;

describe.each(ENGINES)('a backup that is restored on %s', (engine) => {
  let storage: Storage;
  let service: Instance;

  afterEach(async () => {
    await service.stop();
    await storage.close();
  });

  const start = async (): Promise<Instance> =>
    (service = await startInstance(storage.installation, UNLIMITED));

  it('ends every login, refuses every cursor of before, and a reader that begins anew misses nothing', async () => {
    storage = await Storage.on(engine);
    const { installation } = storage;
    await start();
    const caller = await aServiceCaller(service, 'events');
    const { authorization } = caller.client;
    const reader = new FeedReader(authorization, service.url);
    reader.begin();
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const before = await aRefreshableLogin(service, owner);
    await rename(owner, org);
    await untilNumbered(installation.db);

    const backup = await Backup.of(storage);

    const unknown = await anAccount(service);
    const loggedOut = await aRefreshableLogin(service, owner);
    expect((await owner.as(loggedOut.token).post('/api/auth/logout')).status).toBe(200);
    await rename(owner, org);
    expect((await owner.delete('/api/me/sessions?all=true')).status).toBe(200);
    const after = await aRefreshableLogin(service, owner);
    await rename(owner.as(after.token), org);
    await reader.end();
    await service.stop();

    await backup.restore();
    const [restarted] = await accountsJson<{ events: number }>(installation, [
      'after-restore',
      '--reason',
      'restored a backup',
    ]);
    expect(restarted!.events).toBeGreaterThan(CHANGES);
    const known = (await installation.db.query('SELECT id FROM events')).map(({ id }) => String(id));
    await start();

    const wrong: string[] = [...reader.wrong];
    const here = caller.at(service);
    for (const cursor of reader.ids) {
      const { status, body } = await here.get<{ code?: string }>(`/api/events?after=${cursor}`);
      if (status !== cursorExpired.status) wrong.push(`${cursor}: ${status} ${body.code}`);
    }
    const tokens = [owner, unknown, ...[before, loggedOut, after].map(({ token }) => owner.as(token))];
    for (const one of tokens) expect(await one.at(service).get('/api/me')).toMatchObject(invalidToken);
    for (const { refreshToken } of [before, loggedOut, after] satisfies Tokens[]) {
      expect(await refresh(service, refreshToken)).toMatchObject(invalidRefreshToken);
    }

    expect((await readFeed(here)).events).toEqual([]);
    const anew = new FeedReader(authorization, service.url);
    anew.begin();
    const login = await aRefreshableLogin(service, owner);
    await rename(owner.at(service).as(login.token), org);
    await anew.end();
    wrong.push(...(await faultsOfReaders(installation.db, caller.name, [anew], known)));
    const requests = reader.ids.length + tokens.length + 3;
    report({ faults: 1, requests, acknowledged: anew.heard.length, wrong: wrong.length, lost: 0 });
    expect(wrong).toEqual([]);
    expect(anew.heard.length).toBeGreaterThanOrEqual(CHANGES);
  });

  async function rename(owner: Account, org: Org): Promise<void> {
    for (let turn = 0; turn < CHANGES; turn += 1) {
      const { status, text } = await owner.patch(`/api/orgs/${org.id}`, { name: `Engines ${turn}` });
      expect(status, text).toBe(200);
    }
  }
});
