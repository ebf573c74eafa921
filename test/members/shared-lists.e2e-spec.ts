import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { MemberListRepository } from '../../src/orgs/members/member-list.repository.js';
import { Member } from '../../src/orgs/members/member.entity.js';
import { atOnce, times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { addCrowd, crowdEmail } from '../support/large-org.js';

/** More in all than one query brings, and each too long to be usual. */
const LONG = [990, 1000, 1010];
const SHORT = [0, 1, 3, 20, 7];

describe('member lists that are asked for at the same time', () => {
  const orgs = [...SHORT, ...LONG].map((size) => ({ id: newEntityId(), size }));
  let data: DataLayer;
  let lists: MemberListRepository;

  beforeAll(async () => {
    data = await openDataLayer();
    lists = new MemberListRepository(data.dataSource.getRepository(Member));
    const everybody = await insertOrg();
    await addCrowd(data.db, { id: everybody, name: 'Everybody' }, Math.max(...LONG));
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

  async function read(those: typeof orgs): Promise<(string[] | undefined)[]> {
    const found = await atOnce(
      those.map(
        ({ id }) =>
          () =>
            lists.findAll(id),
      ),
    );
    return found.map((list) => list?.map(({ email }) => email));
  }

  /** undefined: too long to hold in memory */
  const listsOf = (those: typeof orgs): (string[] | undefined)[] =>
    those.map(({ size }) => (size > 1000 ? undefined : times(size, crowdEmail)));

  it('are each of their own organization, whole and in order', async () => {
    expect(await read(orgs.filter(({ size }) => size < 100))).toEqual(
      listsOf(orgs.filter(({ size }) => size < 100)),
    );
  });

  it('hold only the fields of a list', async () => {
    const [one, other] = await atOnce(
      orgs.slice(1, 3).map(
        ({ id }) =>
          () =>
            lists.findAll(id),
      ),
    );
    const shown = {
      userId: expect.any(String) as string,
      email: expect.any(String) as string,
      role: 'member',
    };
    expect([...one!, ...other!]).toEqual(times(4, () => shown));
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
