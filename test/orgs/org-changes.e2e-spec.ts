import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ENDED_RETENTION_MS } from '../../src/orgs/state/invitations.lists.js';
import { Org } from '../../src/orgs/state/org.entity.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { atOnce, times } from '../support/at-once.js';
import { aCleanUp, anOrgPurge } from '../support/clean-up.js';
import { aDataSource, openDataLayer } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { recordStatements } from '../support/executed-statements.js';
import { orgNotFound } from '../support/expected.js';
import { DAY_MS } from '../support/inviting.js';
import { addCrowd, insertRow, insertRows } from '../support/rows.js';
import { anAccount, anOrgOf, anUnknownId } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { AccountsModule } from '../../src/accounts/accounts.module.js';
import { OwnProfile } from '../../src/accounts/own-profile.js';
import { UserOperations } from '../../src/accounts/user-operations.js';
import { InvalidTokenError } from '../../src/auth/tokens/access-token.js';
import { MembersModule } from '../../src/orgs/members/members.module.js';
import { MembersService } from '../../src/orgs/members/members.service.js';
import { OrgsModule } from '../../src/orgs/orgs.module.js';
import { OrgsService } from '../../src/orgs/orgs.service.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import type { Write } from '../../src/requests/write.js';
import { wired } from '../support/wired.js';

const NOW = 1_800_000_000_000;
const BATCH = 100;

const data = await openDataLayer();
const { dataSource, db } = data;
const executed = recordStatements(dataSource);
const deleteExpired = () => aCleanUp(dataSource).deleteExpired(NOW);
beforeEach(async () => {
  for (const table of ['api_keys', 'members', 'invitations', 'events', 'feed', 'orgs', 'users'])
    await db.query(`DELETE FROM ${table}`);
  executed.splice(0);
});
afterAll(() => data.close());

describe('the purge of deleted organizations', () => {
  /** @param purgeAt undefined: it is not deleted */
  async function anOrgOfSize(size: number, purgeAt?: number): Promise<string> {
    const id = anUnknownId();
    const [deletedAt, purge_at] = purgeAt === undefined ? [null, null] : [purgeAt - DAY_MS, purgeAt];
    await insertRow(db, 'orgs', { id, revision: 7, deleted_at: deletedAt, purge_at });
    const people = times(size, () => ({ id: anUnknownId() }));
    await insertRows(db, 'users', people);
    const members = people.map((user) => ({ user_id: user.id }));
    await insertRows(db, 'members', members, { org_id: id, role: 'owner' });
    const revoked = { status: 'revoked', pending: null, expires_at: NOW };
    await insertRows(db, 'invitations', people, { org_id: id, ...revoked });
    await insertRow(db, 'api_keys', { id: anUnknownId(), user_id: people[0]!.id, org_id: id });
    return id;
  }

  async function left(): Promise<object> {
    const [row] = await db.query(
      `SELECT (SELECT COUNT(*) FROM orgs) AS orgs, (SELECT COUNT(*) FROM members) AS members,
         (SELECT COUNT(*) FROM invitations) AS invitations, (SELECT COUNT(*) FROM users) AS users,
         (SELECT COUNT(*) FROM api_keys) AS apiKeys`,
    );
    return Object.fromEntries(Object.entries(row!).map(([name, count]) => [name, Number(count)]));
  }
  const events = () =>
    db.query('SELECT type, actor_type, actor_id, org_id, org_revision, user_id FROM events');

  it('takes those whose time is over, to the millisecond, and nobody with them', async () => {
    const gone = await anOrgOfSize(3, NOW);
    await insertRow(db, 'api_keys', {
      id: anUnknownId(),
      user_id: (await db.query('SELECT id FROM users'))[0]!['id'] as string,
    });
    await anOrgOfSize(3, NOW + 1);
    await anOrgOfSize(3);
    expect(await deleteExpired()).toEqual({ deleted: 8, hasMore: false });
    expect(await left()).toEqual({ orgs: 2, members: 6, invitations: 6, users: 9, apiKeys: 3 });
    expect(await db.query('SELECT id FROM orgs WHERE id = ?', [gone])).toEqual([]);
    const by = { actor_type: 'system', actor_id: null };
    expect(await events()).toEqual([
      { type: 'org.purged', ...by, org_id: gone, org_revision: 8, user_id: null },
    ]);
  });

  it('goes in small transactions, and goes on where it was interrupted', async () => {
    const size = 2 * BATCH + 50;
    const id = await anOrgOfSize(size, NOW);
    // As a process that ends after its first batch.
    await anOrgPurge(dataSource).purgeBatch(NOW);
    expect(await left()).toMatchObject({ orgs: 1, members: size - BATCH, invitations: size });
    const [org] = await db.query('SELECT purge_began_at AS began FROM orgs WHERE id = ?', [id]);
    expect(org!['began']).toBe(NOW);
    // Also by one whose clock is behind.
    await deleteExpired();
    expect(await left()).toEqual({ orgs: 0, members: 0, invitations: 0, users: size, apiKeys: 0 });
    expect(await events()).toHaveLength(1);
    expect(Math.max(...executed.map(({ rows }) => rows))).toBeLessThanOrEqual(BATCH);
  });

  it('asks again, under the lock, whether the time is over', async () => {
    const [due, later, restored] = [
      await anOrgOfSize(1, NOW),
      await anOrgOfSize(1, NOW + 1),
      await anOrgOfSize(1),
    ];
    const purge = async (id: string): Promise<number> => {
      const orgs = new OrgsRepository(dataSource.getRepository(Org));
      orgs.findDue = async () => id;
      return (await anOrgPurge(dataSource, orgs).purgeBatch(NOW)).deleted;
    };
    expect([await purge(due), await purge(later), await purge(restored)]).toEqual([4, 0, 0]);
    expect(await purge(due)).toBe(0);
    const kept = await db.query('SELECT id FROM orgs WHERE purge_began_at IS NULL ORDER BY id');
    expect(kept).toEqual([later, restored].toSorted().map((id) => ({ id })));
    expect(await anOrgPurge(dataSource).purgeBatch(NOW)).toEqual({ examined: 0, deleted: 0 });
    expect(await left()).toMatchObject({ orgs: 2 });
  });
});

describe('the clean-up of invitations', () => {
  async function insert(status: string, expiresAt: number, count = 1): Promise<string[]> {
    const ids = times(count, () => anUnknownId());
    const isPending = status === 'pending';
    await insertRows(
      db,
      'invitations',
      ids.map((id) => ({ id })),
      { status, expires_at: expiresAt, pending: isPending ? 1 : null, ended_at: isPending ? null : 1 },
    );
    return ids;
  }

  it('notes those that have expired, to the millisecond, however many', async () => {
    await insert('pending', NOW, 250);
    const [alive] = await insert('pending', NOW + 1);
    await deleteExpired();
    const found = await db.query('SELECT id, status, pending, ended_at FROM invitations');
    expect(found).toHaveLength(251);
    const expired = { status: 'expired', pending: null, ended_at: NOW };
    for (const { id, ...row } of found)
      expect(row).toEqual(id === alive ? { status: 'pending', pending: 1, ended_at: null } : expired);
  });

  it('deletes those that have ended, 30 days after their time, and no pending one', async () => {
    expect(ENDED_RETENTION_MS).toBe(30 * DAY_MS);
    const old = NOW - ENDED_RETENTION_MS;
    for (const status of ['accepted', 'declined', 'revoked', 'expired']) await insert(status, old, 60);
    const [kept] = await insert('revoked', old + 1);
    await deleteExpired();
    expect(await db.query('SELECT id FROM invitations')).toEqual([{ id: kept }]);
  });
});

/** SQLite has one process that could do both, and it does one after another. */
describe.runIf(engine === 'mariadb')('a purge by an instance whose clock is ahead', () => {
  const ROUNDS = 20;
  const CROWD = 250;
  const AHEAD_MS = 31 * DAY_MS;

  it('leaves, whatever comes of a restoration meanwhile, all of an organization or none', async () => {
    const service = await startOwnService();
    const itsData = await aDataSource(service.installation);
    const owner = await anAccount(service);
    const purgeBatch = (now: number) => anOrgPurge(itsData).purgeBatch(now);
    const outcomes: number[] = [];
    // The restoration's, or where below zero the purge's: a search for the moment at which they meet.
    let headStartMs = 0;
    let stepMs = 2;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await anOrgOf(owner);
      await addCrowd(service.db, { id, name: 'Crowded' }, CROWD);
      await owner.delete(`/api/orgs/${id}`);

      const now = Date.now() + AHEAD_MS;
      const restore = () => owner.post(`/api/orgs/${id}/restore`);
      const [answer] = await atOnce<unknown>([
        () => delay(Math.max(0, -headStartMs)).then(restore),
        () => delay(Math.max(0, headStartMs)).then(() => purgeBatch(now)),
      ]);

      const { status } = answer as { status: number };
      stepMs = status === (outcomes.at(-1) ?? status) ? stepMs * 2 : Math.max(1, stepMs / 4);
      headStartMs += status === 200 ? -stepMs : stepMs;
      outcomes.push(status);
      const [row] = await service.db.query(
        `SELECT (SELECT COUNT(*) FROM members WHERE org_id = ?) AS members, purge_began_at AS began FROM orgs WHERE id = ?`,
        [id, id],
      );
      const restored = { members: CROWD + 1, began: null };
      expect(row).toEqual(status === 200 ? restored : { ...row, began: now });

      // The crowd of the next round has the same ids.
      await owner.delete(`/api/orgs/${id}`);
      while ((await purgeBatch(now + 1000)).examined > 0);
      expect(await restore()).toMatchObject(orgNotFound);
      expect(await service.db.query('SELECT 1 FROM members')).toEqual([]);
      await service.db.query('DELETE FROM users WHERE id <> ?', [owner.id]);
    }
    // Otherwise they did not meet.
    expect(new Set(outcomes)).toEqual(new Set([200, 404]));
    await itsData.destroy();
    await service.stop();
  });
});

const services = await wired(data, AccountsModule, MembersModule, OrgsModule);

describe('a change of an organization', () => {
  let orgId: string;
  let ownerId: string;
  let memberId: string;
  let write: Write;

  beforeEach(async () => {
    [orgId, ownerId, memberId] = [anUnknownId(), anUnknownId(), anUnknownId()];
    const actor = {
      kind: 'user' as const,
      id: ownerId,
      sessionId: anUnknownId(),
      isDelegated: false,
      requestId: 'test',
      address: '127.0.0.1',
    };
    write = { kind: 'request', actor, status: 200, dryRun: false };
    for (const id of [ownerId, memberId]) await insertRow(db, 'users', { id });
    await insertRow(db, 'orgs', { id: orgId });
    await join(ownerId, 'owner');
    await join(memberId, 'member');
  });

  const join = (userId: string, role: string) =>
    insertRow(db, 'members', { org_id: orgId, user_id: userId, role });

  const revision = async (): Promise<unknown> =>
    Number((await db.query('SELECT revision FROM orgs WHERE id = ?', [orgId]))[0]?.['revision']);

  describe('the statements of a change', () => {
    const USUAL = ['UPDATE', 'SELECT', 'UPDATE', 'INSERT'];
    const LOCKED = USUAL.slice(0, 2);
    const members = services.get(MembersService, { strict: false });

    async function verbsOf(work: () => Promise<unknown>): Promise<string[]> {
      executed.splice(0);
      await work().catch(() => undefined);
      return executed
        .map(({ verb }) => verb)
        .filter((verb) => /^(?:SELECT|INSERT|UPDATE|DELETE)$/.test(verb));
    }
    const promote = (controls: Partial<Write> = {}) =>
      members.changeRole({ ...write, ...controls }, orgId, memberId, 'admin');

    it.each<[string, string[], Partial<Write>]>([
      ['as many as ever for a client that asks for nothing more', USUAL, {}],
      ['as many for one that asks for a state', USUAL, { ifMatch: new Set(['"1"']) }],
      [
        'two more for one with a key, looked up after the lock',
        ['UPDATE', 'SELECT', ...USUAL.slice(1), 'INSERT'],
        { key: { keyHash: 'k', fingerprint: 'f' } },
      ],
      ['the same for a dry run', USUAL, { dryRun: true }],
    ])('are %s', async (_what, expected, controls) => {
      expect(await verbsOf(() => promote(controls))).toEqual(expected);
    });

    it('are as many in an organization that requires a second factor', async () => {
      await db.query('UPDATE users SET second_factor_at = 1 WHERE id = ?', [ownerId]);
      await db.query('UPDATE orgs SET second_factor_from = 1 WHERE id = ?', [orgId]);
      expect(await verbsOf(() => promote())).toEqual(USUAL);
      await db.query('UPDATE users SET second_factor_at = NULL WHERE id = ?', [ownerId]);
      expect(await verbsOf(() => promote())).toEqual(LOCKED);
    });

    it('are one read and what the operation writes', async () => {
      const another = anUnknownId();
      await insertRow(db, 'users', { id: another, email: `${another}@example.com` });
      const orgs = services.get(OrgsService, { strict: false });
      for (const [work, ...written] of [
        [() => members.add(write, orgId, `${another}@example.com`, 'member'), 'INSERT', 'INSERT'],
        [() => members.remove(write, orgId, another), 'DELETE', 'INSERT'],
        [() => members.transfer(write, orgId, memberId, false), 'UPDATE', 'UPDATE', 'INSERT'],
        [() => orgs.change(write, orgId, { name: 'Renamed' }), 'UPDATE', 'INSERT'],
        // An admin may have sent invitations.
        [() => members.leave(write, orgId), 'DELETE', 'SELECT', 'INSERT'],
      ] as const)
        expect(await verbsOf(work)).toEqual([...LOCKED, ...written]);
    });

    it('write nothing but the lock if the change is refused, or changes nothing', async () => {
      await promote();
      for (const work of [
        () => members.leave(write, orgId),
        () => members.remove(write, orgId, ownerId),
        () => members.transfer(write, orgId, anUnknownId(), false),
        promote,
      ])
        expect(await verbsOf(() => work())).toEqual(LOCKED);
    });
  });

  /** Somebody who changes the organization meanwhile has to wait, or to make it start over: both see its lock. */
  it('disabling locks an organization that the user joined after it looked which there are', async () => {
    const ada = anUnknownId();
    await insertRow(db, 'users', { id: ada });
    const rows = services.get(MembersRepository, { strict: false });
    const find = rows.findOrgIds.bind(rows);
    const looks = vi.spyOn(rows, 'findOrgIds').mockImplementationOnce(async (...of) => {
      const ids = await find(...of);
      await join(ada, 'owner');
      return ids;
    });
    const operations = services.get(UserOperations, { strict: false });
    await operations.disable(ada, { actor: { kind: 'system' }, force: false });
    const [user] = await db.query('SELECT disabled_at FROM users WHERE id = ?', [ada]);
    expect(user!['disabled_at']).not.toBeNull();
    expect([looks.mock.calls.length, await revision()]).toEqual([2, 2]);
  });

  it('of a user who is gone, or disabled meanwhile, leaves every row as it was', async () => {
    const rows = services.get(MembersRepository, { strict: false });
    vi.spyOn(rows, 'findOrgIds').mockResolvedValueOnce([orgId]);
    const operations = services.get(UserOperations, { strict: false });
    const disabling = operations.disable(anUnknownId(), { actor: { kind: 'system' }, force: false });
    expect([await disabling, await revision()]).toEqual([{ kind: 'gone' }, 1]);

    const profiles = services.get(OwnProfile, { strict: false });
    await db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ownerId]);
    await expect(profiles.update(write, { name: 'Ada' })).rejects.toThrow(InvalidTokenError);
    const [user] = await db.query('SELECT name, revision FROM users WHERE id = ?', [ownerId]);
    expect(user).toEqual({ name: null, revision: 1 });
  });
});

it('users who ask for their organizations at once get all of them, even if one statement cannot read them', async () => {
  const [userIds, orgIds] = [times(6, anUnknownId), times(199, anUnknownId)];
  const idRows = (ids: string[]) => ids.map((id) => ({ id }));
  await insertRows(db, 'users', idRows(userIds));
  await insertRows(db, 'orgs', idRows(orgIds));
  for (const userId of userIds) {
    const members = orgIds.map((orgId) => ({ org_id: orgId, user_id: userId }));
    await insertRows(db, 'members', members);
  }
  const orgs = new OrgsRepository(dataSource.getRepository(Org));
  const lists = await Promise.all(userIds.map((userId) => orgs.findShortListOfUser(userId)));
  expect(lists.map((list) => list?.map(({ id }) => id).toSorted())).toEqual(
    userIds.map(() => orgIds.toSorted()),
  );
});
