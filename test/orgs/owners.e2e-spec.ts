import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import {
  insufficientRole,
  invalidFields,
  lastOwner,
  memberDisabled,
  memberNotFound,
  notAMember,
  stepUpRequired,
} from '../support/expected.js';
import {
  addMember,
  changeRole,
  disable,
  enable,
  memberPath,
  membersOf,
  removeMember,
} from '../support/org-members.js';
import {
  type Account,
  anAccount,
  anOrg,
  anOrgOf,
  anOrgWithTwoOwners,
  anUnknownId,
  byCode,
  type Cast,
  join,
  type Org,
  ROLES,
} from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

const leave = (by: Account, { id }: Org, query = '') => by.post(`/api/orgs/${id}/leave${query}`);

async function rolesIn({ id }: Org): Promise<Record<string, unknown>> {
  const rows = await service.db.query('SELECT user_id, role FROM members WHERE org_id = ?', [id]);
  return Object.fromEntries(rows.map(({ user_id, role }) => [String(user_id), role]));
}

describe('leaving an organization', () => {
  it.each(ROLES)('is for every %s', async (role) => {
    const { org, coOwner, ...cast } = await anOrgWithTwoOwners(service);
    const who = cast[role];

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
      const cast = await anOrg(service);
      await service.db.query("DELETE FROM members WHERE org_id = ? AND role <> 'admin'", [cast.org.id]);
      return cast;
    }
    async function stateOf({ org, admin }: Cast, since: ReadonlySet<unknown>): Promise<object> {
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

    it.each<[string, string, (cast: Cast) => Promise<Answer>]>([
      ['by leaving', 'left', ({ org, admin }) => leave(admin, org)],
      ['by removing themselves', 'left', ({ org, admin }) => removeMember(admin, org, admin)],
      [
        'by deleting the account',
        'account_deleted',
        ({ admin }) => admin.delete('/api/me', { password: admin.password }),
      ],
    ])('%s deletes it', async (_how, reason, go) => {
      const cast = await anOrgWithoutOwner();
      const known = await knownEvents(service.db);

      const answer = await go(cast);

      expect(answer, answer.text).toMatchObject({ status: 200 });
      expect(await stateOf(cast, known)).toEqual({ isDeleted: true, events: [removed(reason), deleted] });
    });

    it('does nothing in a dry run, nor while another member is there', async () => {
      const cast = await anOrgWithoutOwner();
      const { org, admin } = cast;
      const known = await knownEvents(service.db);

      expect((await leave(admin, org, '?dryRun=true')).status).toBe(200);
      expect(await stateOf(cast, known)).toEqual({ isDeleted: false, events: [] });

      await join(org, admin, cast.outsider, 'member');
      const joined = await knownEvents(service.db);
      expect((await leave(admin, org)).status).toBe(200);
      expect(await stateOf(cast, joined)).toEqual({ isDeleted: false, events: [removed('left')] });
    });
  });
});

describe('handing an organization over', () => {
  const transfer = (by: Account, { id }: Org, body: object) => by.post(`/api/orgs/${id}/transfer`, body);

  it.each(['member', 'admin'] as const)('makes the %s owner and the caller admin', async (role) => {
    const { org, owner, ...cast } = await anOrg(service);

    const answer = await transfer(owner, org, { userId: cast[role].id });

    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(await rolesIn(org)).toMatchObject({ [cast[role].id]: 'owner', [owner.id]: 'admin' });
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
    for (const userId of [outsider.id, anUnknownId()]) {
      expect(await transfer(owner, org, { userId })).toMatchObject(memberNotFound);
    }
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

  it('is for owners, logged in by password', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const body = { userId: member.id };

    for (const by of [admin, await byCode(service, admin)]) {
      expect(await transfer(by, org, body)).toMatchObject(insufficientRole('owner', 'admin'));
    }
    expect(await transfer(member, org, body)).toMatchObject(insufficientRole('owner', 'member'));
    expect(await transfer(await byCode(service, owner), org, body)).toMatchObject(stepUpRequired);
  });
});

describe('the last owner', () => {
  it('cannot leave or become anything else, and may be set to owner again', async () => {
    const { org, owner } = await anOrg(service);

    for (const role of ['admin', 'member']) {
      expect(await changeRole(owner, org, owner, role)).toMatchObject(lastOwner);
    }
    expect(await removeMember(owner, org, owner)).toMatchObject(lastOwner);
    expect(await leave(owner, org)).toMatchObject(lastOwner);

    expect((await membersOf(owner, org))[0]).toMatchObject({ userId: owner.id, role: 'owner' });
    expect((await changeRole(owner, org, owner, 'owner')).status).toBe(200);
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
    for (const query of ['?remedy=', '?remedy=1', '?remedy=TRUE', '?remedy=true&remedy=true']) {
      expect(await demote(owner, org, owner, query), query).toMatchObject(invalidFields('remedy'));
    }
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
