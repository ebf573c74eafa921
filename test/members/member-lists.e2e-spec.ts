import { pagesOf } from '../support/pages.js';
import { afterAll, describe, expect, it } from 'vitest';
import type { StreamableFile } from '@nestjs/common';
import { atOnce, times } from '../support/at-once.js';
import { invalidFields, notAMember } from '../support/expected.js';
import { membersOf, membersPath } from '../support/org-members.js';
import { anAccount, anOrg, anOrgOf, anUnknownId, type Org, ROLES } from '../support/personas.js';
import { addCrowd, crowdEmail, insertRow, insertRows } from '../support/rows.js';
import { startService } from '../support/service.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { MembersReader } from '../../src/orgs/members/members-reader.js';
import { Member } from '../../src/orgs/state/org.entity.js';
import {
  type FoundList,
  type MemberList,
  MemberListsRepository,
  type ListReader,
} from '../../src/orgs/state/members.lists.js';
import { openDataLayer } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';

interface Listed {
  userId: string;
  email: string;
  role: string;
}

interface Page {
  members: Listed[];
  nextCursor?: string;
}

const service = await startService();
const owner = await anAccount(service, 'zoe');
const emailsOf = (members: { email: string }[]): string[] => members.map(({ email }) => email);

async function emailsInPages(org: Org, query: string, limit: number): Promise<string[]> {
  const path = `${membersPath(org)}?${[query, `limit=${limit}`].filter(Boolean).join('&')}`;
  const pages = await pagesOf<Listed>(owner, path, 'members');
  for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
  return emailsOf(pages.flat());
}

describe('the list of members', () => {
  it('has all in the order of joining, for every member and no other user', async () => {
    const { org, outsider, ...insiders } = await anOrg(service);
    const listed = ROLES.toReversed().map((role) => {
      const { id, email } = insiders[role];
      return { userId: id, email, role };
    });
    for (const role of ROLES) {
      const { status, body } = await insiders[role].get(membersPath(org));
      expect([status, body]).toEqual([200, { members: listed }]);
    }
    expect(await outsider.get(membersPath(org))).toMatchObject(notAMember);
  });

  it('has members who joined at the same moment in the order of their ids', async () => {
    const { org, admin } = await anOrg(service);
    await service.db.query('UPDATE members SET joined_at = 1 WHERE org_id = ?', [org.id]);
    const ids = (await membersOf(admin, org)).map(({ userId }) => userId);
    expect(ids).toEqual(ids.toSorted());
  });
});

const MANY = 2499;
const large = await anOrgOf(owner, 'Large [] "Org"');
/** Other files fill the same database with ids that are made of numbers. */
const ID_PREFIX = newEntityId().slice(0, 24);
const crowd = times(MANY, (number) => ({
  id: ID_PREFIX + String(number).padStart(12, '0'),
  email: `u${number}@large.example.com`,
  // In threes of one millisecond, so that the user id decides too.
  joined_at: 4_000_000_000_000 + Math.floor(number / 3),
}));
await insertRows(
  service.db,
  'users',
  crowd.map(({ id, email }) => ({ id, email })),
);
await insertRows(
  service.db,
  'members',
  crowd.map(({ id, email, joined_at }) => ({ user_id: id, email, joined_at })),
  { org_id: large.id },
);

describe('a long list of members', () => {
  const everybody = [owner.email, ...emailsOf(crowd)];

  it('is complete, in order and without duplicates or a next page when no limit is given', async () => {
    const list = await owner.get<Page>(membersPath(large));
    const detail = await owner.get<{ org: Org & Page }>(`/api/orgs/${large.id}`);
    expect([list.status, list.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(emailsOf(list.body.members)).toEqual(everybody);
    expect(Object.keys(list.body)).toEqual(['members']);
    expect(detail.body.org.name).toBe('Large [] "Org"');
    expect(emailsOf(detail.body.org.members)).toEqual(everybody);
  });

  it.each([1000, 833])('comes in pages of %i, linked by nextCursor and the Link header', async (limit) => {
    expect(await emailsInPages(large, '', limit)).toEqual(everybody);
  });

  it.each(['', '?limit=1', '?limit=2'])('of one member has no next page: %j', async (query) => {
    const { body, headers } = await owner.get<Page>(membersPath(await anOrgOf(owner, 'Small')) + query);
    expect(Object.keys(body)).toEqual(['members']);
    expect(headers.get('link')).toBeNull();
  });

  it.each([
    ...'limit=0 limit=1001 limit=-1 limit=1e9 limit=NaN limit=x limit= limit=1&limit=2'.split(' '),
    ...'limit=5&cursor=x cursor=x'.split(' '),
  ])('refuses ?%s', async (query) => {
    const answer = await owner.get(`${membersPath(large)}?${query}`);
    expect(answer, answer.text).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  });
});

const PEOPLE: [email: string, role: string][] = [
  ['ada@example.com', 'admin'],
  ['ada@example.com.ar', 'member'],
  ['ada+1@example.com', 'member'],
  ['ada_b@example.com', 'owner'],
  ['adab@example.com', 'admin'],
  ['adam@xn--bcher-kva.de', 'member'],
  ['a%a@example.com', 'member'],
  ['bob@example.com', 'member'],
  ['~tilde@example.com', 'admin'],
];

/** no email begins with it */
const NOBODY = ' ';

const org = await anOrgOf(owner);
// Their emails are not those of their accounts.
for (const [email, role] of PEOPLE) {
  const id = anUnknownId();
  await insertRow(service.db, 'users', { id });
  await insertRow(service.db, 'members', { org_id: org.id, user_id: id, email, role });
}
afterAll(async () => {
  await service.db.query('DELETE FROM members WHERE org_id = ?', [org.id]);
  await service.db.query('DELETE FROM orgs WHERE id = ?', [org.id]);
  await service.stop();
});

describe('a search of members', () => {
  const everybody = [...PEOPLE, [owner.email, 'owner'] as const];
  const members = (query: string) => owner.get<Page>(membersPath(org) + query);
  const expected = (prefix: string, role?: string): string[] =>
    everybody
      .filter(([email, has]) => email.startsWith(prefix) && (role === undefined || has === role))
      .map(([email]) => email)
      .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));

  it.each([
    ['ada', 'ada'],
    ['ADA', 'ada'],
    ['  ada  ', 'ada'],
    ['ada@', 'ada@'],
    ['ada@example.com', 'ada@example.com'],
    ['ada_', 'ada_'],
    ['a%', 'a%'],
    ['_', '_'],
    ['%', '%'],
    ['adam@BÜCHER.de', 'adam@xn--bcher-kva.de'],
    ['~', '~'],
    ['nobody', 'nobody'],
    [' ', NOBODY],
    ['\\', NOBODY],
    ['@', NOBODY],
    ['@example.com', NOBODY],
    ['a b', NOBODY],
    ['a@b@c', NOBODY],
    ['ä', NOBODY],
    ['a\u0000', NOBODY],
    ['a\ud83d\ude00', NOBODY],
  ])('for %j finds what begins with it', async (search, prefix) => {
    const { status, body, text } = await members(`?search=${encodeURIComponent(search)}`);
    expect(status, text).toBe(200);
    expect(emailsOf(body.members)).toEqual(expected(prefix));
    expect(body.nextCursor).toBeUndefined();
  });

  it.each(ROLES)('for the role %s finds those who have it', async (role) => {
    const { body } = await members(`?role=${role}`);
    expect(emailsOf(body.members)).toEqual(expected('', role));
    expect(new Set(body.members.map((member) => member.role))).toEqual(new Set([role]));
  });

  const combinations = ['', 'search=a', 'role=member', 'search=ada&role=member', 'role=admin&search=a'];
  it.each(combinations.flatMap((query) => [1, 2, 3].map((limit) => [query, limit] as const)))(
    'by %j in pages of %i finds all, once, in order',
    async (query, limit) => {
      const { search = '', role } = Object.fromEntries(new URLSearchParams(query));
      const found = await emailsInPages(org, query, limit);
      const all = query === '' ? found.toSorted() : found;
      expect(all).toEqual(query === '' ? expected('').toSorted() : expected(search, role));
    },
  );

  it('goes on where it was although that member left, and with a default limit', async () => {
    const { body } = await members('?search=ada&limit=1');
    expect(emailsOf(body.members)).toEqual(expected('ada').slice(0, 1));
    const gone = expected('ada')[0]!;
    const [row] = await service.db.query('SELECT user_id FROM members WHERE org_id = ? AND email = ?', [
      org.id,
      gone,
    ]);
    await service.db.query('DELETE FROM members WHERE org_id = ? AND email = ?', [org.id, gone]);
    const next = await members(`?search=ada&cursor=${body.nextCursor}`);
    expect(emailsOf(next.body.members)).toEqual(expected('ada').slice(1));
    await insertRow(service.db, 'members', { org_id: org.id, user_id: row!['user_id']!, email: gone });
  });

  it.each(['', 'x'.repeat(255), ' '.repeat(255), 'x'.repeat(600)])('refuses %j', async (search) => {
    expect(await members(`?search=${encodeURIComponent(search)}`)).toMatchObject(invalidFields('search'));
  });

  it('refuses what is no role, and lists', async () => {
    for (const role of ['', 'root', 'OWNER'])
      expect(await members(`?role=${role}`)).toMatchObject(invalidFields('role'));
    expect(await members('?role=owner&role=admin')).toMatchObject(invalidFields('role'));
    expect(await members('?search=a&search=b')).toMatchObject(invalidFields('search'));
  });

  it('refuses the cursor of another kind of list', async () => {
    const ofAll = (await members('?limit=1')).body.nextCursor!;
    const ofSearch = (await members('?search=a&limit=1')).body.nextCursor!;
    expect(await members(`?search=a&cursor=${ofAll}`)).toMatchObject(invalidFields('cursor'));
    expect(await members(`?limit=1&cursor=${ofSearch}`)).toMatchObject(invalidFields('cursor'));
    expect(await members(`?cursor=${ofAll}`)).toMatchObject(invalidFields('limit'));
  });
});

/** More in all than one query brings, and each too long to be usual. */
const LONG = [990, 1000, 1010];
const SHORT = [0, 1, 3, 20, 7];
const PAGES = 5;
const PAGE = 1000;
const STREAMS = 4;

const data = await openDataLayer();
const { dataSource, db } = data;
const lists = new MemberListsRepository(dataSource.getRepository(Member));
const crowded = await insertOrg();
await addCrowd(db, { id: crowded, name: 'Everybody' }, PAGES * PAGE);
afterAll(() => data.close());

async function insertOrg(id = newEntityId()): Promise<string> {
  await insertRow(db, 'orgs', { id, name: 'Listed' });
  return id;
}

/** The member of the large organization who joined at that place. */
async function memberAt(place: number): Promise<string> {
  const query = 'SELECT user_id FROM members WHERE org_id = ? AND joined_at = ?';
  return String((await db.query(query, [crowded, place]))[0]!['user_id']);
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
      [id, crowded, size],
    );
  }

  const find = (those: typeof orgs, by = userId): Promise<FoundList[]> =>
    atOnce(
      those.map(
        ({ id: orgId }) =>
          () =>
            lists.findAll({ orgId, userId: by, sessionId: '', hasSecondFactor: false }),
      ),
    );

  const read = async (those: typeof orgs) =>
    (await find(those)).map((list) => {
      if (list.kind !== 'whole') return list;
      const { kind, name, revision, members } = list;
      return { kind, name, revision, members: members.map(({ email }) => email) };
    });

  const listsOf = (those: typeof orgs): object[] =>
    those.map(({ size }) => {
      if (size === 0) return { kind: 'closed' };
      if (size > 1000) return { kind: 'long' };
      return { kind: 'whole', name: 'Listed', revision: 1, members: times(size, crowdEmail) };
    });

  it('are each of their own organization, whole and in order, also when one was asked for twice', async () => {
    for (const those of [orgs.slice(0, 5), [orgs[3]!, orgs[4]!, orgs[3]!]])
      expect(await read(those)).toEqual(listsOf(those));
  });

  it('are closed to a reader who is in none, or only in another one', async () => {
    expect(await find(orgs.slice(0, 4), newEntityId())).toEqual(times(4, () => ({ kind: 'closed' })));
    const [big, small] = [orgs[4]!, orgs[1]!];
    const last = await memberAt(6);
    const found = await atOnce(
      [
        { orgId: big.id, userId: last },
        { orgId: small.id, userId: last },
        { orgId: small.id, userId },
      ].map(
        (reader) => () => lists.findAll(Object.assign({ sessionId: '', hasSecondFactor: false }, reader)),
      ),
    );
    expect(found.map(({ kind }) => kind)).toEqual(['whole', 'closed', 'whole']);
  });

  it('read no user without profiles, and take one statement with them, too', async () => {
    const executed = recordStatements(dataSource);
    for (const withProfile of [false, true]) {
      executed.splice(0);
      await lists.findAll({ orgId: orgs[1]!.id, userId, sessionId: '', hasSecondFactor: false, withProfile });
      expect(executed.map(({ sql }) => /\busers\b/.test(sql))).toEqual([withProfile]);
    }
  });

  it('are complete even when together they exceed one query, and short again after long ones', async () => {
    const alone = [...orgs, orgs[5]!, orgs[1]!].map((one) => [one]);
    for (const those of [orgs, orgs, ...alone, orgs.slice(0, 5)])
      expect(await read(those)).toEqual(listsOf(those));
  });
});

describe('a list of several pages', () => {
  const listing = new MembersReader(lists);

  /** A session of a new user, who is a member unless it is said otherwise. */
  async function aReader({
    of = crowded,
    isMember = true,
    revokedAt = null as number | null,
  } = {}): Promise<ListReader> {
    const [userId, sessionId] = [newEntityId(), newEntityId()];
    await insertRow(db, 'users', { id: userId });
    await insertRow(db, 'sessions', { id: sessionId, user_id: userId, revoked_at: revokedAt });
    // Behind the crowd, which other tests know by its places.
    if (isMember) await insertRow(db, 'members', { org_id: of, user_id: userId, joined_at: 1e6 });
    return { orgId: of, userId, sessionId, hasSecondFactor: false };
  }

  async function read(reader: ListReader): Promise<object> {
    const { orgId, userId: id, sessionId, hasSecondFactor } = reader;
    const seen = { id: orgId, name: 'Seen', revision: 1, secondFactorFrom: null };
    const caller = { id, sessionId, hasSecondFactor, audience: null };
    const onlyMembers = ({ members }: MemberList): object => ({ members });
    const { answer } = await listing.listAll(seen, caller, new Set(), (work) => work(), onlyMembers);
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
    for (const of of [crowded, short]) {
      const refused = read(await aReader({ of, isMember: false }));
      await expect(refused).rejects.toMatchObject({ code: 'not_a_member' });
    }
  });

  it('is refused before it starts to a reader whose session has ended', async () => {
    await expect(read(await aReader({ revokedAt: 1 }))).rejects.toMatchObject({ code: 'invalid_token' });
  });
});
