import { describe, expect, it } from 'vitest';
import {
  anId,
  invalidFields,
  lastOwner,
  memberDisabled,
  memberNotFound,
  notAMember,
  orgNotFound,
  directSessionRequired,
} from '../support/expected.js';
import {
  addMember,
  changeRole,
  disable,
  enable,
  memberPath,
  membersOf,
  membersPath,
  removeMember,
} from '../support/org-members.js';
import type { Account, Cast, Org } from '../support/personas.js';
import {
  anAccount,
  anOrg,
  anOrgOf,
  anOrgWithTwoOwners,
  anUnknownId,
  byCode,
  join,
  ROLES,
} from '../support/personas.js';
import { startService } from '../support/service.js';
import { insertRow } from '../support/rows.js';
import type { Answer } from '../support/answer.js';
import { eventsSince, type KnownEvents, knownEvents } from '../support/feed.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
const cast = await anOrg(service);

describe('creating an organization', () => {
  const create = (name: unknown) => ada.post<{ org: Org }>('/api/orgs', { name });

  it('makes the creator its owner, also where another organization has the name', async () => {
    await anOrgOf(ada);
    const { status, body } = await create('Analytical Engines');
    expect(status).toBe(201);
    expect(body).toEqual({ org: { id: anId, name: 'Analytical Engines' } });
    expect(await membersOf(ada, body.org)).toEqual([{ userId: ada.id, email: ada.email, role: 'owner' }]);
  });

  it.each([
    ['spaces around it', '  Engines  ', 'Engines'],
    ['1 character', 'x', 'x'],
    ['100 characters', 'x'.repeat(100), 'x'.repeat(100)],
    ['100 characters and spaces around them', ` ${'x'.repeat(100)} `, 'x'.repeat(100)],
    ['100 emoji', '\u{1f40e}'.repeat(100), '\u{1f40e}'.repeat(100)],
    ['50 letters with variation selectors', 'a\ufe0f'.repeat(50), 'a\ufe0f'.repeat(50)],
    ['combining marks that compose', 'A\u030angstro\u0308m', '\u00c5ngstr\u00f6m'],
    ['100 letters of two code points, composed', 'A\u030a'.repeat(100), '\u00c5'.repeat(100)],
    ['markup', '<b>"Engines" & \'Co\'</b>', '<b>"Engines" & \'Co\'</b>'],
    ['SQL', "'); DROP TABLE orgs; --", "'); DROP TABLE orgs; --"],
    ['right-to-left text', '\u0645\u0646\u0638\u0645\u0629', '\u0645\u0646\u0638\u0645\u0629'],
    ['a backslash and a percent sign', '100\\% _x_', '100\\% _x_'],
  ])('keeps a name with %s', async (_what, name, kept) => {
    const { status, body, text } = await create(name);
    expect(status, text).toBe(201);
    expect(body.org.name).toBe(kept);
    expect((await ada.get(`/api/orgs/${body.org.id}`)).body).toMatchObject({ org: { name: kept } });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['a boolean', true],
    ['a list', ['Engines']],
    ['an object', { $ne: '' }],
    ['empty text', ''],
    ['spaces', '   '],
    ['other white space', '\u00a0\u2003\u3000'],
    ['101 characters', 'x'.repeat(101)],
    ['101 emoji', '\u{1f40e}'.repeat(101)],
    ['101 code points with variation selectors', `${'a\ufe0f'.repeat(50)}b`],
    ['a line break', 'Engines\nadmin: true'],
    ['NUL', 'Engines\u0000'],
    ['escape', 'Engines\u001b[31m'],
    ['a C1 control', 'Engines\u0085x'],
    ['a lone surrogate', 'Engines\ud800'],
    ['10,000 characters', 'x'.repeat(10_000)],
  ])('refuses a name that is %s', async (_what, name) => {
    expect(await create(name)).toMatchObject(invalidFields('name'));
  });

  it('ignores unknown fields, and never binds them', async () => {
    const [eve, theirs] = [await anAccount(service, 'eve'), await anOrgOf(ada, 'Theirs')];
    const { status, body } = await eve.post<{ org: Org }>('/api/orgs', {
      name: 'Mine',
      id: theirs.id,
      ownerId: ada.id,
      userId: ada.id,
      revision: 99,
      createdAt: 0,
      members: [{ userId: ada.id, role: 'owner' }],
    });
    expect(status).toBe(201);
    expect(body.org.id).not.toBe(theirs.id);
    expect(await membersOf(eve, body.org)).toEqual([{ userId: eve.id, email: eve.email, role: 'owner' }]);
    expect((await ada.get(`/api/orgs/${theirs.id}`)).body).toMatchObject({ org: { name: 'Theirs' } });
  });
});

describe('reading an organization', () => {
  it('shows it and its members to every member, and to no other user', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const members = Object.entries({ owner, admin, member }).map(([role, { id, email }]) => ({
      userId: id,
      email,
      role,
    }));
    for (const insider of [owner, admin, member]) {
      const { status, body } = await insider.get(`/api/orgs/${org.id}`);
      expect([status, body]).toEqual([200, { org: { ...org, members } }]);
    }
    expect(await outsider.get(`/api/orgs/${org.id}`)).toMatchObject(notAMember);
  });

  it.each([
    ['unknown', anUnknownId()],
    ['a number', '1'],
    ['zero', '0'],
    ['text', 'nonsense'],
    ['a list', '[]'],
    ['an object', '%7B%22%24ne%22%3A1%7D'],
    ['NUL', '%00'],
    ['an emoji', '%F0%9F%90%8E'],
    ['an encoded slash', '..%2f..%2fetc%2fpasswd'],
    ['SQL', "'%20OR%20'1'='1"],
    ['a wildcard', '%25'],
    ['a space', '%20'],
    ['100 characters', 'x'.repeat(100)],
    ['300 characters', 'x'.repeat(300)],
    ['__proto__', '__proto__'],
  ])('answers 404 for an id that is %s', async (_what, id) => {
    const answer = await ada.get(`/api/orgs/${id}`);
    expect(answer, answer.text).toMatchObject(orgNotFound);
    expect((await ada.get(membersPath({ id }))).status).toBe(404);
    expect((await changeRole(ada, { id }, { id }, 'admin')).status).toBe(404);
  });

  it.each<[string, (id: string) => string]>([
    ['in capitals', (id) => id.toUpperCase()],
    ['with a space after it', (id) => `${id}%20`],
    ['with text after it', (id) => `${id}x`],
    ['without its hyphens', (id) => id.replaceAll('-', '')],
    ['cut short', (id) => id.slice(0, -1)],
    ['in braces', (id) => `%7B${id}%7D`],
  ])('finds nothing under its id %s', async (_what, change) => {
    expect(await cast.owner.get(`/api/orgs/${change(cast.org.id)}`)).toMatchObject(orgNotFound);
  });
});

describe('renaming an organization', () => {
  const rename = (by: 'owner' | 'admin', body: object) => cast[by].patch(`/api/orgs/${cast.org.id}`, body);

  it.each(['admin', 'owner'] as const)('is for an %s, and seen by everybody', async (role) => {
    const name = `Named by the ${role} \u00c5`;
    const answers = [
      await rename(role, { name: `  ${name.normalize('NFD')} ` }),
      await rename(role, { name }),
    ];
    for (const { status, body } of answers)
      expect([status, body]).toEqual([200, { org: { id: cast.org.id, name } }]);
    expect((await cast.member.get(`/api/orgs/${cast.org.id}`)).body).toMatchObject({ org: { name } });
    expect((await cast.member.get('/api/me')).body).toMatchObject({ orgs: [{ name }] });
  });

  it.each([{}, ...['', ' ', 'x'.repeat(101), 'a\u0000b', 7, null].map((name) => ({ name }))])(
    'refuses %j',
    async (body) => {
      expect(await rename('owner', body)).toMatchObject(invalidFields('name'));
    },
  );
});

const WINDOW_MS = 30 * 86_400_000;

const orgPath = (id: string): string => `/api/orgs/${id}`;
const deleteAccount = (who: Account) => who.delete('/api/me', { password: who.password });

describe('deleting an organization', () => {
  it('says until when it can be restored', async () => {
    const { org, owner } = await anOrg(service);
    const before = Date.now();
    const { status, body } = await owner.delete<{ ok: true; purgeAt: string }>(orgPath(org.id));
    expect([status, body.ok]).toEqual([200, true]);
    const { purgeAt } = body;
    expect(Date.parse(purgeAt)).toBeGreaterThanOrEqual(before + WINDOW_MS);
    expect(Date.parse(purgeAt)).toBeLessThanOrEqual(Date.now() + WINDOW_MS);
    const deletedAt = new Date(Date.parse(purgeAt) - WINDOW_MS).toISOString();
    expect((await owner.get('/api/me/deleted-orgs')).body).toEqual({
      orgs: [{ ...org, deletedAt, purgeAt }],
    });
  });

  it('makes it 404 for everybody and everything at once', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    await owner.delete(orgPath(org.id));

    const requests: [method: string, suffix: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Other' }],
      ['DELETE', ''],
      ['POST', '/leave'],
      ['POST', '/transfer', { userId: member.id }],
      ['GET', '/events'],
      ['GET', '/members'],
      ['GET', '/members?limit=1'],
      ['GET', '/members?search=a'],
      ['GET', '/members/me'],
      ['POST', '/members', { email: outsider.email, role: 'member' }],
      ['PATCH', `/members/${member.id}`, { role: 'admin' }],
      ['DELETE', `/members/${member.id}`],
    ];
    for (const [method, suffix, body] of requests) {
      for (const who of [owner, admin, member, outsider]) {
        const answer = await who.sendJson(method, orgPath(org.id) + suffix, body);
        expect(answer, `${method} ${suffix}`).toMatchObject(orgNotFound);
      }
    }
    for (const who of [owner, admin, member]) {
      expect((await who.get('/api/me')).body).toMatchObject({ orgs: [] });
      expect((await who.get('/api/me/orgs')).body).toEqual({ orgs: [] });
    }
    // The rows wait for a restoration.
    expect(await service.db.query('SELECT 1 FROM members WHERE org_id = ?', [org.id])).toHaveLength(3);
  });

  it('revokes its pending invitations', async () => {
    const { org, owner } = await anOrg(service);
    await insertRow(service.db, 'invitations', { id: org.id, invited_by: owner.id });
    await owner.delete(orgPath(org.id));
    const rows = await service.db.query('SELECT status, pending FROM invitations WHERE org_id = ?', [org.id]);
    expect(rows).toEqual([{ status: 'revoked', pending: null }]);
  });

  it('lets the last owner delete the account, and the membership goes with it', async () => {
    const { org, owner, coOwner } = await anOrgWithTwoOwners(service);
    await owner.delete(orgPath(org.id));
    expect((await deleteAccount(owner)).status).toBe(200);
    expect((await deleteAccount(coOwner)).status).toBe(200);
    const owners = "SELECT 1 FROM members WHERE org_id = ? AND role = 'owner'";
    expect(await service.db.query(owners, [org.id])).toEqual([]);
    const [event] = await service.db.query(
      "SELECT data FROM events WHERE org_id = ? AND user_id = ? AND type = 'member.removed'",
      [org.id, owner.id],
    );
    expect(JSON.parse(String(event!['data']))).toEqual({ role: 'owner', reason: 'account_deleted' });
    expect(await deleteAccount((await anOrg(service)).owner)).toMatchObject(lastOwner);
  });
});

describe('an organization that is deleted', () => {
  it('is not deleted again when its last member deletes the account', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const { body } = await owner.delete<{ purgeAt: string }>(orgPath(org.id));
    expect((await deleteAccount(owner)).status).toBe(200);
    const [row] = await service.db.query('SELECT purge_at FROM orgs WHERE id = ?', [org.id]);
    expect(Number(row!['purge_at'])).toBe(Date.parse(body.purgeAt));
    const deletions = "SELECT id FROM events WHERE org_id = ? AND type = 'org.deleted'";
    expect(await service.db.query(deletions, [org.id])).toHaveLength(1);
  });
});

describe('restoring an organization', () => {
  const restore = (by: Account, { id }: { id: string }) => by.post(`${orgPath(id)}/restore`);

  it('brings it back with the members of then who still have an account', async () => {
    const { org, owner, admin, member, coOwner } = await anOrgWithTwoOwners(service);
    const before = await membersOf(owner, org);
    await owner.delete(orgPath(org.id));
    expect((await deleteAccount(member)).status).toBe(200);
    const { status, body } = await restore(coOwner, org);
    expect([status, body]).toEqual([200, { org }]);
    expect(await membersOf(admin, org)).toEqual(before.filter(({ userId }) => userId !== member.id));
    expect((await admin.get('/api/me')).body).toMatchObject({ orgs: [org] });
    expect((await owner.get('/api/me/deleted-orgs')).body).toEqual({ orgs: [] });
    expect((await changeRole(owner, org, admin, 'member')).status).toBe(200);
  });

  it('is for nobody but its owners', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    await owner.delete(orgPath(org.id));
    for (const who of [admin, member, outsider]) {
      expect(await restore(who, org)).toMatchObject(orgNotFound);
      expect((await who.get('/api/me/deleted-orgs')).body).toEqual({ orgs: [] });
    }
    expect(await restore(await byCode(service, owner), org)).toMatchObject(directSessionRequired);
    expect((await owner.post(`${orgPath(org.id)}/restore`, {})).status).toBe(200);
  });

  it('needs one that is deleted, and exists', async () => {
    const { org, owner } = await anOrg(service);
    for (const id of [org.id, anUnknownId(), 'x'])
      expect(await restore(owner, { id })).toMatchObject(orgNotFound);
    await owner.delete(orgPath(org.id));
    expect((await restore(owner, org)).status).toBe(200);
    expect(await restore(owner, org)).toMatchObject(orgNotFound);
  });

  it.each([
    ['its time is over', 'purge_at = 1'],
    ['its purge began, whatever the clock says', 'purge_began_at = 1'],
  ])('is refused once %s', async (_when, change) => {
    const { org, owner } = await anOrg(service);
    await owner.delete(orgPath(org.id));
    await service.db.query(`UPDATE orgs SET ${change} WHERE id = ?`, [org.id]);
    expect(await restore(owner, org)).toMatchObject(orgNotFound);
    expect((await owner.get('/api/me/deleted-orgs')).body).toEqual({ orgs: [] });
  });
});

const leave = (by: Account, { id }: Org, query = '') => by.post(`/api/orgs/${id}/leave${query}`);

async function rolesIn({ id }: Org): Promise<Record<string, unknown>> {
  const rows = await service.db.query('SELECT user_id, role FROM members WHERE org_id = ?', [id]);
  return Object.fromEntries(rows.map(({ user_id, role }) => [String(user_id), role]));
}

describe('leaving an organization', () => {
  it.each(ROLES)('is for every %s', async (role) => {
    const { org, coOwner, ...people } = await anOrgWithTwoOwners(service);
    const who = people[role];
    expect(await leave(who, org)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await who.get(`/api/orgs/${org.id}`)).toMatchObject(notAMember);
    expect(await leave(who, org)).toMatchObject(notAMember);
    expect(await membersOf(coOwner, org)).toHaveLength(3);
  });

  it('takes an empty object, and a token from a code', async () => {
    const { org, member, admin } = await anOrg(service);
    expect((await member.post(`/api/orgs/${org.id}/leave`, {})).status).toBe(200);
    expect((await leave(await byCode(service, admin), org)).status).toBe(200);
  });

  describe('as the last member, who is no owner', () => {
    /** As an operator who deletes the owner by force leaves it. */
    async function anOrgWithoutOwner(): Promise<Cast> {
      const those = await anOrg(service);
      await service.db.query("DELETE FROM members WHERE org_id = ? AND role <> 'admin'", [those.org.id]);
      return those;
    }
    async function stateOf({ org, admin }: Cast, since: KnownEvents): Promise<object> {
      const rows = await service.db.query('SELECT deleted_at FROM orgs WHERE id = ?', [org.id]);
      const events = (await eventsSince(service.db, since)).filter(({ org_id }) => org_id === org.id);
      return {
        isDeleted: rows.every(({ deleted_at }) => deleted_at !== null),
        events: events.map(({ type, actor_id, data }) => ({ type, by: actor_id === admin.id, data })),
      };
    }
    const deleted = { type: 'org.deleted', by: true, data: {} };
    const removed = (reason: string) => ({
      type: 'member.removed',
      by: true,
      data: { role: 'admin', reason },
    });

    it.each<[string, string, (those: Cast) => Promise<Answer>]>([
      ['by leaving', 'left', ({ org, admin }) => leave(admin, org)],
      ['by removing themselves', 'left', ({ org, admin }) => removeMember(admin, org, admin)],
      [
        'by deleting the account',
        'account_deleted',
        ({ admin }) => admin.delete('/api/me', { password: admin.password }),
      ],
    ])('%s deletes it', async (_how, reason, go) => {
      const those = await anOrgWithoutOwner();
      const known = await knownEvents(service.db);
      const answer = await go(those);
      expect(answer, answer.text).toMatchObject({ status: 200 });
      expect(await stateOf(those, known)).toEqual({ isDeleted: true, events: [removed(reason), deleted] });
    });

    it('does nothing in a dry run, nor while another member is there', async () => {
      const those = await anOrgWithoutOwner();
      const { org, admin } = those;
      const known = await knownEvents(service.db);
      expect((await leave(admin, org, '?dryRun=true')).status).toBe(200);
      expect(await stateOf(those, known)).toEqual({ isDeleted: false, events: [] });
      await join(org, admin, those.outsider, 'member');
      const joined = await knownEvents(service.db);
      expect((await leave(admin, org)).status).toBe(200);
      expect(await stateOf(those, joined)).toEqual({ isDeleted: false, events: [removed('left')] });
    });
  });
});

describe('handing an organization over', () => {
  const transfer = (by: Account, { id }: Org, body: object) => by.post(`/api/orgs/${id}/transfer`, body);

  it.each(['member', 'admin'] as const)('makes the %s owner and the caller admin', async (role) => {
    const { org, owner, ...those } = await anOrg(service);
    const answer = await transfer(owner, org, { userId: those[role].id });
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(await rolesIn(org)).toMatchObject({ [those[role].id]: 'owner', [owner.id]: 'admin' });
  });

  it('lets the caller leave in the same step', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    expect((await transfer(owner, org, { userId: member.id, leave: true })).status).toBe(200);
    expect(await rolesIn(org)).toEqual({ [member.id]: 'owner', [admin.id]: 'admin' });
    expect(await owner.get(`/api/orgs/${org.id}`)).toMatchObject(notAMember);
  });

  it('to another owner changes the caller alone', async () => {
    const { org, owner, coOwner } = await anOrgWithTwoOwners(service);
    expect((await transfer(owner, org, { userId: coOwner.id, leave: false })).status).toBe(200);
    expect(await rolesIn(org)).toMatchObject({ [coOwner.id]: 'owner', [owner.id]: 'admin' });
  });

  it('is refused to oneself, to nobody, and to a member who is disabled', async () => {
    const { org, owner, member, outsider } = await anOrg(service);
    const before = await rolesIn(org);
    await disable(service.db, member);
    expect(await transfer(owner, org, { userId: owner.id })).toMatchObject(invalidFields('userId'));
    for (const userId of [outsider.id, anUnknownId()])
      expect(await transfer(owner, org, { userId })).toMatchObject(memberNotFound);
    expect(await transfer(owner, org, { userId: member.id, leave: true })).toMatchObject(memberDisabled);
    expect(await rolesIn(org)).toEqual(before);
  });

  it.each([
    [{}, ['userId']],
    [{ userId: 'nobody' }, ['userId']],
    [{ userId: 7, leave: 'yes' }, ['userId', 'leave']],
    [{ userId: anUnknownId(), leave: null }, ['leave']],
    [{ userId: [anUnknownId()], leave: 1 }, ['userId', 'leave']],
  ])('refuses %j', async (body, fields) => {
    const { org, owner } = await anOrg(service);
    expect(await transfer(owner, org, body)).toMatchObject(invalidFields(...fields));
  });
});

describe('the last owner', () => {
  it('cannot leave or become anything else, and may be set to owner again', async () => {
    const { org, owner } = await anOrg(service);
    for (const role of ['admin', 'member'])
      expect(await changeRole(owner, org, owner, role)).toMatchObject(lastOwner);
    expect(await removeMember(owner, org, owner)).toMatchObject(lastOwner);
    expect(await leave(owner, org)).toMatchObject(lastOwner);
    expect((await membersOf(owner, org))[0]).toMatchObject({ userId: owner.id, role: 'owner' });
    expect((await changeRole(owner, org, owner, 'owner')).status).toBe(200);
  });

  it('is told to delete an organization without other members', async () => {
    const owner = await anAccount(service);
    const [org, second] = [await anOrgOf(owner), await anOrgOf(owner)];
    const refusals = () =>
      Promise.all([
        changeRole(owner, org, owner, 'admin'),
        removeMember(owner, org, owner),
        leave(owner, org),
        leave(owner, org, '?remedy=true'),
        deleteAccount(owner),
      ]);
    const details = async () => {
      const answers = await refusals();
      for (const answer of answers) expect(answer).toMatchObject(lastOwner);
      return answers.map(({ body }) => (body as { detail: string }).detail);
    };
    const alone = expect.stringMatching(
      /^This user is the only member\. Delete the organization, or /,
    ) as string;
    const some = expect.stringContaining(
      'Delete the organizations in which this user is the only member',
    ) as string;
    expect(await details()).toEqual([alone, alone, alone, alone, some]);
    expect((await refusals())[3].body).toMatchObject({ remedy: { action: 'transfer', candidates: [] } });

    const other = await anAccount(service);
    await join(org, owner, other, 'member');
    const another = 'This user is the only owner. Make another user an owner first.';
    expect(await details()).toEqual([another, another, another, another, some]);
    await owner.delete(`/api/orgs/${second.id}`);
    expect((await details())[4]).toBe(another);
  });

  it('is the one that remains after the others left', async () => {
    const { org, owner, coOwner } = await anOrgWithTwoOwners(service);
    expect((await changeRole(owner, org, owner, 'member')).status).toBe(200);
    expect(await changeRole(coOwner, org, coOwner, 'admin')).toMatchObject(lastOwner);
    expect(await removeMember(coOwner, org, coOwner)).toMatchObject(lastOwner);
    expect(await leave(coOwner, org)).toMatchObject(lastOwner);
  });

  it('can leave after promoting another', async () => {
    const { org, owner, member } = await anOrg(service);
    await changeRole(owner, org, member, 'owner');
    expect((await removeMember(owner, org, owner)).status).toBe(200);
    expect(await removeMember(member, org, member)).toMatchObject(lastOwner);
  });

  it('is not counted while disabled, nor made of somebody who is', async () => {
    const { org, owner, coOwner, member } = await anOrgWithTwoOwners(service);
    await disable(service.db, coOwner, member);
    expect(await changeRole(owner, org, member, 'owner')).toMatchObject(memberDisabled);
    expect((await changeRole(owner, org, member, 'admin')).status).toBe(200);
    expect((await changeRole(owner, org, coOwner, 'owner')).status).toBe(200);
    expect(await changeRole(owner, org, owner, 'admin')).toMatchObject(lastOwner);
    expect(await removeMember(owner, org, owner)).toMatchObject(lastOwner);
    expect(await leave(owner, org)).toMatchObject(lastOwner);
    await enable(service.db, coOwner);
    expect((await leave(owner, org)).status).toBe(200);
  });
});

describe('?remedy=true', () => {
  const demote = (by: Account, org: Org, who: Account, query: string) =>
    by.patch(memberPath(org, who) + query, { role: 'member' });
  const candidate = ({ id, email }: Account, role: string) => ({ userId: id, email, role });

  it('names the members who could be owner: enabled ones, admins first', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const disabled = await anAccount(service, 'disabled');
    await join(org, owner, disabled, 'admin');
    await disable(service.db, disabled);
    const remedy = {
      action: 'transfer',
      candidates: [candidate(admin, 'admin'), candidate(member, 'member')],
    };
    for (const answer of [
      await demote(owner, org, owner, '?remedy=true'),
      await owner.delete(`${memberPath(org, owner)}?remedy=true`),
    ]) {
      expect(answer).toMatchObject(lastOwner);
      expect((answer.body as { remedy: unknown }).remedy).toEqual(remedy);
    }
    const dry = await demote(owner, org, owner, '?remedy=true&dryRun=true');
    expect(dry).toMatchObject({ status: 409, body: { remedy } });
    expect(dry.headers.get('dry-run')).toBe('true');
  });

  it('names at most five, and none where nobody is', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const ask = async () => (await demote(owner, org, owner, '?remedy=true')).body;
    expect(await ask()).toMatchObject({ remedy: { action: 'transfer', candidates: [] } });
    for (let i = 0; i < 6; i += 1) await addMember(owner, org, await anAccount(service));
    const { remedy } = (await ask()) as { remedy: { candidates: unknown[] } };
    expect(remedy.candidates).toHaveLength(5);
  });

  it('is told to members only, where asked, and takes no other value', async () => {
    const { org, owner, outsider } = await anOrg(service);
    expect((await demote(owner, org, owner, '')).body).not.toHaveProperty('remedy');
    const told = await demote(outsider, org, owner, '?remedy=true');
    expect(told).toMatchObject(notAMember);
    expect(told.body).not.toHaveProperty('remedy');
    for (const query of ['?remedy=', '?remedy=1', '?remedy=TRUE', '?remedy=true&remedy=true'])
      expect(await demote(owner, org, owner, query), query).toMatchObject(invalidFields('remedy'));
  });

  it('names the first organization that needs another owner when an account is deleted', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    await anOrgOf(owner, 'Alone');
    const remove = () => owner.delete('/api/me?remedy=true', { password: owner.password });
    const candidates = [candidate(admin, 'admin'), candidate(member, 'member')];
    expect(await remove()).toMatchObject({
      status: 409,
      body: { code: 'last_owner', remedy: { action: 'transfer', orgId: org.id, candidates } },
    });
    await changeRole(owner, org, admin, 'owner');
    const { body } = await remove();
    expect((body as { remedy: unknown }).remedy).toEqual({ action: 'transfer', candidates: [] });
  });
});
