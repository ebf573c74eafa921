import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { atOnce } from '../support/at-once.js';
import { anOrgPurge } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { orgNotFound } from '../support/expected.js';
import { addCrowd } from '../support/large-org.js';
import { type Account, anAccount, anOrgOf } from '../support/personas.js';
import { type Service, startOwnService } from '../support/service.js';

const ROUNDS = 20;
const CROWD = 250;
const AHEAD_MS = 31 * 86_400_000;

/** SQLite has one process that could do both, and it does one after another. */
describe.runIf(engine === 'mariadb')('a purge by an instance whose clock is ahead', () => {
  let service: Service;
  let dataSource: DataSource;
  let owner: Account;

  beforeAll(async () => {
    service = await startOwnService();
    dataSource = await aDataSource(service.installation);
    owner = await anAccount(service);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await service.stop();
  });

  it('leaves, whatever comes of a restoration meanwhile, all of an organization or none', async () => {
    const outcomes: number[] = [];
    // The restoration's, or where below zero the purge's: a search for the moment at which they meet.
    let headStartMs = 0;
    let stepMs = 2;
    for (let round = 0; round < ROUNDS; round += 1) {
      const org = await anOrgOf(owner);
      await addCrowd(service.db, org, CROWD);
      await owner.delete(`/api/orgs/${org.id}`);

      const now = Date.now() + AHEAD_MS;
      const restore = () => owner.post(`/api/orgs/${org.id}/restore`);
      const [answer] = await atOnce<unknown>([
        () => delay(Math.max(0, -headStartMs)).then(restore),
        () => delay(Math.max(0, headStartMs)).then(() => anOrgPurge(dataSource).purgeBatch(now)),
      ]);

      const { status } = answer as { status: number };
      stepMs = status === (outcomes.at(-1) ?? status) ? stepMs * 2 : Math.max(1, stepMs / 4);
      headStartMs += status === 200 ? -stepMs : stepMs;
      outcomes.push(status);
      const [row] = await service.db.query(
        `SELECT (SELECT COUNT(*) FROM members WHERE org_id = ?) AS members, purge_began_at AS began FROM orgs WHERE id = ?`,
        [org.id, org.id],
      );
      const restored = { members: CROWD + 1, began: null };
      expect(row).toEqual(status === 200 ? restored : { ...row, began: now });
      await finish(org.id, now);
    }
    // Otherwise they did not meet.
    expect(new Set(outcomes)).toEqual(new Set([200, 404]));
  });

  /** The crowd of the next round has the same ids. */
  async function finish(orgId: string, now: number): Promise<void> {
    await owner.delete(`/api/orgs/${orgId}`);
    while ((await anOrgPurge(dataSource).purgeBatch(now + 1000)).examined > 0);
    expect(await owner.post(`/api/orgs/${orgId}/restore`)).toMatchObject(orgNotFound);
    expect(await service.db.query('SELECT 1 FROM members')).toEqual([]);
    await service.db.query('DELETE FROM users WHERE id <> ?', [owner.id]);
  }
});
