import type { StreamableFile } from '@nestjs/common';
import { afterAll, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { MemberListsService } from '../../src/orgs/members/member-lists.service.js';
import { Member } from '../../src/orgs/state/org.entity.js';
import { type FoundList, MemberLists, type Reader } from '../../src/orgs/state/members.lists.js';
import { atOnce, times } from '../support/at-once.js';
import { openDataLayer } from '../support/data-source.js';
import { addCrowd, crowdEmail, insertRow } from '../support/rows.js';

/** More in all than one query brings, and each too long to be usual. */
const LONG = [990, 1000, 1010];
const SHORT = [0, 1, 3, 20, 7];
const PAGES = 5;
const PAGE = 1000;
const STREAMS = 4;

const data = await openDataLayer();
const { dataSource, db } = data;
const lists = new MemberLists(dataSource.getRepository(Member));
const everybody = await insertOrg();
await addCrowd(db, { id: everybody, name: 'Everybody' }, PAGES * PAGE);
afterAll(() => data.close());

async function insertOrg(id = newEntityId()): Promise<string> {
  await insertRow(db, 'orgs', { id, name: 'Listed' });
  return id;
}

/** The member of the large organization who joined at that place. */
async function memberAt(place: number): Promise<string> {
  const query = 'SELECT user_id FROM members WHERE org_id = ? AND joined_at = ?';
  return String((await db.query(query, [everybody, place]))[0]!['user_id']);
}

describe('member lists that are asked for at the same time', async () => {
  const orgs = [...SHORT, ...LONG].map((size) => ({ id: newEntityId(), size }));
  /** the first member of each */
  const userId = await memberAt(0);
  for (const { id, size } of orgs) {
    await insertOrg(id);
    await db.query(
      `INSERT INTO members (org_id, user_id, email, role, joined_at)
       SELECT ?, user_id, email, role, joined_at FROM members WHERE org_id = ? AND joined_at < ?`,
      [id, everybody, size],
    );
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
    return (await find(those)).map((list) => {
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

  it('are each of their own organization, whole and in order, also when one was asked for twice', async () => {
    for (const those of [orgs.slice(0, 5), [orgs[3]!, orgs[4]!, orgs[3]!]]) {
      expect(await read(those)).toEqual(listsOf(those));
    }
  });

  it('hold only the fields of a list', async () => {
    const found = await find(orgs.slice(1, 3));
    const text = expect.any(String) as string;
    expect(found.flatMap((list) => (list.kind === 'whole' ? list.members : []))).toEqual(
      times(4, () => ({ userId: text, email: text, role: 'member' })),
    );
  });

  it('are closed to a reader who is in none, or only in another one', async () => {
    expect(await find(orgs.slice(0, 4), newEntityId())).toEqual(times(4, () => ({ kind: 'closed' })));
    const [large, small] = [orgs[4]!, orgs[1]!];
    const last = await memberAt(6);
    const found = await atOnce(
      [
        { orgId: large.id, userId: last },
        { orgId: small.id, userId: last },
        { orgId: small.id, userId },
      ].map((reader) => () => lists.findAll(Object.assign({ sessionId: '' }, reader))),
    );
    expect(found.map(({ kind }) => kind)).toEqual(['whole', 'closed', 'whole']);
  });

  it('are closed once the organization was deleted', async () => {
    const org = orgs[2]!;
    await db.query('UPDATE orgs SET deleted_at = 1 WHERE id = ?', [org.id]);
    expect(await find([org])).toEqual([{ kind: 'closed' }]);
    await db.query('UPDATE orgs SET deleted_at = NULL WHERE id = ?', [org.id]);
  });

  it('are complete even when together they exceed one query, and short again after long ones', async () => {
    const alone = [...orgs, orgs[5]!, orgs[1]!].map((org) => [org]);
    for (const those of [orgs, orgs, ...alone, orgs.slice(0, 5)]) {
      expect(await read(those)).toEqual(listsOf(those));
    }
  });
});

describe('a list of several pages', () => {
  const service = new MemberListsService(lists);

  /** A session of a new user, who is a member unless it is said otherwise. */
  async function aReader({
    of = everybody,
    isMember = true,
    revokedAt = null as number | null,
  } = {}): Promise<Reader> {
    const [userId, sessionId] = [newEntityId(), newEntityId()];
    await insertRow(db, 'users', { id: userId });
    await insertRow(db, 'sessions', { id: sessionId, user_id: userId, revoked_at: revokedAt });
    // Behind the crowd, which other tests know by its places.
    if (isMember) await insertRow(db, 'members', { org_id: of, user_id: userId, joined_at: 1e6 });
    return { orgId: of, userId, sessionId };
  }

  async function read(reader: Reader): Promise<object> {
    const { orgId, userId: id, sessionId } = reader;
    const seen = { id: orgId, name: 'Seen', revision: 1 };
    const { answer } = await service.listAll<object>(seen, { id, sessionId }, ({ members }) => ({ members }));
    return answer;
  }

  async function membersIn(answer: object): Promise<object[]> {
    const chunks: Buffer[] = [];
    for await (const chunk of (answer as StreamableFile).getStream()) chunks.push(chunk as Buffer);
    return (JSON.parse(Buffer.concat(chunks).toString()) as { members: object[] }).members;
  }

  it('yields to the event loop between the pages of all lists', async () => {
    const reader = await aReader();
    const answers = await Promise.all(times(STREAMS, () => read(reader)));
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });

    const documents = await Promise.all(answers.map(membersIn));
    clearImmediate(next);

    for (const { length } of documents) expect(length).toBeGreaterThan(PAGES * PAGE);
    expect(new Set(documents.map(({ length }) => length)).size).toBe(1);
    expect(turns).toBeGreaterThanOrEqual(STREAMS * PAGES);
  });

  it('is refused before it starts to a reader who is no longer a member, as is a short list', async () => {
    const short = await insertOrg();
    await aReader({ of: short });
    for (const of of [everybody, short]) {
      const refused = read(await aReader({ of, isMember: false }));
      await expect(refused).rejects.toMatchObject({ code: 'not_a_member' });
    }
  });

  it('is refused before it starts to a reader whose session has ended', async () => {
    await expect(read(await aReader({ revokedAt: 1 }))).rejects.toMatchObject({ code: 'invalid_token' });
  });
});
