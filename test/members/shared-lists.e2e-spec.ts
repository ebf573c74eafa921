import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { type FoundList, MemberLists } from '../../src/orgs/state/members.lists.js';
import { Member } from '../../src/orgs/state/org.entity.js';
import { atOnce, times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { addCrowd, crowdEmail } from '../support/large-org.js';

/** More in all than one query brings, and each too long to be usual. */
const LONG = [990, 1000, 1010];
const SHORT = [0, 1, 3, 20, 7];

describe('member lists that are asked for at the same time', () => {
  const orgs = [...SHORT, ...LONG].map((size) => ({ id: newEntityId(), size }));
  let data: DataLayer;
  let lists: MemberLists;
  /** the first member of each */
  let userId: string;

  beforeAll(async () => {
    data = await openDataLayer();
    lists = new MemberLists(data.dataSource.getRepository(Member));
    const everybody = await insertOrg();
    await addCrowd(data.db, { id: everybody, name: 'Everybody' }, Math.max(...LONG));
    const [first] = await data.db.query('SELECT user_id FROM members WHERE org_id = ? AND joined_at = 0', [
      everybody,
    ]);
    userId = String(first!['user_id']);
    for (const { id, size } of orgs) {
      await insertOrg(id);
      await data.db.query(
        `INSERT INTO members (org_id, user_id, email, role, joined_at)
         SELECT ?, user_id, email, role, joined_at FROM members WHERE org_id = ? AND joined_at < ?`,
        [id, everybody, size],
      );
    }
  });
  afterAll(() => data.close());

  async function insertOrg(id = newEntityId()): Promise<string> {
    await data.db.query('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, 1)', [
      id,
      'Listed',
    ]);
    return id;
  }

  const find = (those: typeof orgs, by = userId): Promise<FoundList[]> =>
    atOnce(
      those.map(
        ({ id: orgId }) =>
          () =>
            lists.findAll({ orgId, userId: by, sessionId: '' }),
      ),
    );

  async function read(those: typeof orgs): Promise<object[]> {
    const found = await find(those);
    return found.map((list) => {
      if (list.kind !== 'whole') return list;
      const { kind, name, revision, members } = list;
      return { kind, name, revision, members: members.map(({ email }) => email) };
    });
  }

  const listsOf = (those: typeof orgs): object[] =>
    those.map(({ size }) => {
      if (size === 0) return { kind: 'closed' };
      if (size > 1000) return { kind: 'long' };
      return { kind: 'whole', name: 'Listed', revision: 1, members: times(size, crowdEmail) };
    });

  it('are each of their own organization, whole and in order', async () => {
    expect(await read(orgs.filter(({ size }) => size < 100))).toEqual(
      listsOf(orgs.filter(({ size }) => size < 100)),
    );
  });

  it('hold only the fields of a list', async () => {
    const found = await find(orgs.slice(1, 3));
    const shown = {
      userId: expect.any(String) as string,
      email: expect.any(String) as string,
      role: 'member',
    };
    expect(found.flatMap((list) => (list.kind === 'whole' ? list.members : []))).toEqual(
      times(4, () => shown),
    );
  });

  it('are closed to a reader who is in none, or only in another one', async () => {
    const closed = { kind: 'closed' };
    expect(await find(orgs.slice(0, 4), newEntityId())).toEqual(times(4, () => closed));
    const [, large, , small] = orgs
      .filter(({ size }) => size > 0 && size < 100)
      .toSorted((a, b) => b.size - a.size);
    const [last] = await data.db.query('SELECT user_id FROM members WHERE org_id = ? AND joined_at = 6', [
      large!.id,
    ]);
    const readers = [large!, small!].map(({ id: orgId }) => ({
      orgId,
      userId: String(last!['user_id']),
      sessionId: '',
    }));
    const found = await atOnce(
      [...readers, { ...readers[1]!, userId }].map((reader) => () => lists.findAll(reader)),
    );
    expect(found.map(({ kind }) => kind)).toEqual(['whole', 'closed', 'whole']);
  });

  it('are closed once the organization was deleted', async () => {
    const org = orgs.find(({ size }) => size === 3);
    await data.db.query('UPDATE orgs SET deleted_at = 1 WHERE id = ?', [org!.id]);
    expect(await find([org!])).toEqual([{ kind: 'closed' }]);
    await data.db.query('UPDATE orgs SET deleted_at = NULL WHERE id = ?', [org!.id]);
  });

  it('are the same when one was asked for twice', async () => {
    expect(await read([orgs[3]!, orgs[4]!, orgs[3]!])).toEqual(listsOf([orgs[3]!, orgs[4]!, orgs[3]!]));
  });

  it('are complete even when together they exceed one query', async () => {
    expect(await read(orgs)).toEqual(listsOf(orgs));
    expect(await read(orgs)).toEqual(listsOf(orgs));
  });

  it('become short again after long ones', async () => {
    for (const { size } of orgs)
      expect(await read(orgs.filter((org) => org.size === size))).toEqual(
        listsOf(orgs.filter((org) => org.size === size)),
      );
    expect(await read([orgs[5]!])).toEqual(listsOf([orgs[5]!]));
    expect(await read([orgs[1]!])).toEqual(listsOf([orgs[1]!]));
    expect(await read(orgs.slice(0, 5))).toEqual(listsOf(orgs.slice(0, 5)));
  });
});
