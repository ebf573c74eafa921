import type { StreamableFile } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { Member } from '../../src/orgs/state/org.entity.js';
import { MemberLists, type Reader } from '../../src/orgs/state/members.lists.js';
import { MemberListsService } from '../../src/orgs/members/member-lists.service.js';
import { times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { addCrowd } from '../support/large-org.js';

const PAGES = 5;
const PAGE = 1000;
const STREAMS = 4;

describe('a list of several pages', () => {
  const org = { id: newEntityId(), name: 'Large' };
  const short = { id: newEntityId(), name: 'Short' };
  let data: DataLayer;
  let lists: MemberListsService;

  beforeAll(async () => {
    data = await openDataLayer();
    lists = new MemberListsService(new MemberLists(data.dataSource.getRepository(Member)));
    for (const { id, name } of [org, short]) {
      await data.db.query('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, 1)', [
        id,
        name,
      ]);
    }
    await addCrowd(data.db, org, PAGES * PAGE);
  });
  afterAll(() => data.close());

  /** A session of a new user, who is a member unless it is said otherwise. */
  async function aReader({
    of = org,
    isMember = true,
    revokedAt = null as number | null,
  } = {}): Promise<Reader> {
    const [userId, sessionId] = [newEntityId(), newEntityId()];
    await data.db.query('INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, 1)', [
      userId,
      `${userId}@example.com`,
      'none',
    ]);
    await data.db.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, revoked_at) VALUES (?, ?, 1, 1, 1, ?)`,
      [sessionId, userId, revokedAt],
    );
    if (isMember)
      await data.db.query(
        `INSERT INTO members (org_id, user_id, email, role, joined_at) SELECT ?, id, email, 'member', 1
         FROM users WHERE id = ?`,
        [of.id, userId],
      );
    return { orgId: of.id, userId, sessionId };
  }

  async function read(reader: Reader): Promise<object> {
    const seen = { name: 'Seen', revision: 1 };
    const { answer } = await lists.listAll<object>(reader, seen, ({ members }) => ({ members }));
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

    expect(documents.map(({ length }) => length)).toEqual(times(STREAMS, () => PAGES * PAGE + 1));
    expect(turns).toBeGreaterThanOrEqual(STREAMS * PAGES);
  });

  it('is refused before it starts to a reader who is no longer a member, as is a short list', async () => {
    await aReader({ of: short });
    for (const of of [org, short]) {
      await expect(read(await aReader({ of, isMember: false }))).rejects.toMatchObject({
        code: 'not_a_member',
      });
    }
  });

  it('is refused before it starts to a reader whose session has ended', async () => {
    await expect(read(await aReader({ revokedAt: 1 }))).rejects.toMatchObject({ code: 'invalid_token' });
  });
});
