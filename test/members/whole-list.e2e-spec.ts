import type { StreamableFile } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { Member } from '../../src/orgs/members/member.entity.js';
import { MemberListRepository } from '../../src/orgs/members/member-list.repository.js';
import { WholeLists } from '../../src/orgs/members/whole-lists.js';
import { times } from '../support/at-once.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { addCrowd } from '../support/large-org.js';

const PAGES = 5;
const PAGE = 1000;
const STREAMS = 4;

describe('a list of several pages', () => {
  const org = { id: newEntityId(), name: 'Large' };
  let data: DataLayer;
  let lists: WholeLists;

  beforeAll(async () => {
    data = await openDataLayer();
    lists = new WholeLists(new MemberListRepository(data.dataSource.getRepository(Member)));
    await data.db.query('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, 1)', [
      org.id,
      org.name,
    ]);
    await addCrowd(data.db, org, PAGES * PAGE);
  });
  afterAll(() => data.close());

  /** The id of a session of a new user, who is a member unless it is said otherwise. */
  async function aReader({ isMember = true, revokedAt = null as number | null } = {}): Promise<string> {
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
        [org.id, userId],
      );
    return sessionId;
  }

  const read = (sessionId: string) =>
    lists.answer<object>({ orgId: org.id, sessionId }, (members) => ({ members }));

  async function membersIn(answer: object): Promise<object[]> {
    const chunks: Buffer[] = [];
    for await (const chunk of (answer as StreamableFile).getStream()) chunks.push(chunk as Buffer);
    return (JSON.parse(Buffer.concat(chunks).toString()) as { members: object[] }).members;
  }

  it('yields to the event loop between the pages of all lists', async () => {
    const sessionId = await aReader();
    const answers = await Promise.all(times(STREAMS, () => read(sessionId)));
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

  it('is refused before it starts to a reader who is no longer a member', async () => {
    await expect(read(await aReader({ isMember: false }))).rejects.toMatchObject({ code: 'not_a_member' });
  });

  it('is refused before it starts to a reader whose session has ended', async () => {
    await expect(read(await aReader({ revokedAt: 1 }))).rejects.toMatchObject({ code: 'invalid_token' });
  });
});
