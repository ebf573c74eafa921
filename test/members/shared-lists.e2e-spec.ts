import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { MemberListRepository } from '../../src/memberships/member-list.repository.js';
import { Member } from '../../src/memberships/member.entity.js';
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

  const emails = (size: number): string[] => times(size, crowdEmail);

  async function expectLists(those: typeof orgs): Promise<void> {
    const found = await atOnce(
      those.map(
        ({ id }) =>
          () =>
            lists.findAll(id),
      ),
    );
    expect(found.map((list) => list?.map(({ email }) => email))).toEqual(
      those.map(({ size }) => (size > 1000 ? undefined : emails(size))),
    );
  }

  it('are each of their own organization, whole and in order', async () => {
    await expectLists(orgs.filter(({ size }) => size < 100));
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
    await expectLists([orgs[3]!, orgs[4]!, orgs[3]!]);
  });

  it('are complete even when together they exceed one query', async () => {
    await expectLists(orgs);
    await expectLists(orgs);
  });

  it('become short again after long ones', async () => {
    for (const { size } of orgs) await expectLists(orgs.filter((org) => org.size === size));
    await expectLists([orgs[5]!]);
    await expectLists([orgs[1]!]);
    await expectLists(orgs.slice(0, 5));
  });
});
