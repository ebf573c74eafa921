import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { lastOwner, notAMember } from '../support/expected.js';
import { anOrg, anOrgWithTwoOwners, byCode, type Cast, join, ROLES } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('leaving an organization', () => {
  const leave = (id: string): string => `/api/orgs/${id}/leave`;

  it.each(ROLES)('is for every %s', async (role) => {
    const cast = await anOrgWithTwoOwners(service);
    const who = cast[role];

    const answer = await who.post(leave(cast.org.id));

    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(await who.get(`/api/orgs/${cast.org.id}`)).toMatchObject(notAMember);
    expect(await who.post(leave(cast.org.id))).toMatchObject(notAMember);
    const { body } = await cast.coOwner.get(`/api/orgs/${cast.org.id}/members`);
    expect((body as { members: object[] }).members).toHaveLength(3);
  });

  it('takes an empty object, and a token from a code', async () => {
    const { org, member, admin } = await anOrg(service);

    expect((await member.post(leave(org.id), {})).status).toBe(200);
    expect((await (await byCode(service, admin)).post(leave(org.id))).status).toBe(200);
  });

  it('is refused to the last owner, and to the last who is enabled', async () => {
    const { org, owner, coOwner } = await anOrgWithTwoOwners(service);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [coOwner.id]);

    expect(await owner.post(leave(org.id))).toMatchObject(lastOwner);

    await service.db.query('UPDATE users SET disabled_at = NULL WHERE id = ?', [coOwner.id]);
    expect((await owner.post(leave(org.id))).status).toBe(200);
    expect(await coOwner.post(leave(org.id))).toMatchObject(lastOwner);
  });

  describe('as the last member, who is no owner', () => {
    /** As an operator who deletes the owner by force leaves it. */
    async function aWithoutOwner(): Promise<Cast> {
      const cast = await anOrg(service);
      await service.db.query("DELETE FROM members WHERE org_id = ? AND role <> 'admin'", [cast.org.id]);
      return cast;
    }
    const stateOf = async ({ org, admin }: Cast, since: ReadonlySet<unknown>) => ({
      isDeleted: (await service.db.query('SELECT deleted_at FROM orgs WHERE id = ?', [org.id])).every(
        ({ deleted_at }) => deleted_at !== null,
      ),
      events: (await eventsSince(service.db, since))
        .filter(({ org_id }) => org_id === org.id)
        .map(({ type, actor_id, data }) => ({ type, by: actor_id === admin.id, data })),
    });
    const deleted = { type: 'org.deleted', by: true, data: {} };
    const removed = (reason: string) => ({
      type: 'member.removed',
      by: true,
      data: { role: 'admin', reason },
    });

    it.each<[string, string, (cast: Cast) => Promise<Answer>]>([
      ['by leaving', 'left', ({ org, admin }) => admin.post(leave(org.id))],
      [
        'by removing themselves',
        'left',
        ({ org, admin }) => admin.delete(`/api/orgs/${org.id}/members/${admin.id}`),
      ],
      [
        'by deleting the account',
        'account_deleted',
        ({ admin }) => admin.delete('/api/me', { password: admin.password }),
      ],
    ])('%s deletes it', async (_how, reason, go) => {
      const cast = await aWithoutOwner();
      const known = await knownEvents(service.db);

      const answer = await go(cast);

      expect(answer, answer.text).toMatchObject({ status: 200 });
      expect(await stateOf(cast, known)).toEqual({ isDeleted: true, events: [removed(reason), deleted] });
    });

    it('does nothing in a dry run, nor while another member is there', async () => {
      const cast = await aWithoutOwner();
      const known = await knownEvents(service.db);
      const { org, admin } = cast;

      expect((await admin.post(`${leave(org.id)}?dryRun=true`)).status).toBe(200);
      expect(await stateOf(cast, known)).toEqual({ isDeleted: false, events: [] });

      await join(org, admin, cast.outsider, 'member');
      const joined = await knownEvents(service.db);
      expect((await admin.post(leave(org.id))).status).toBe(200);
      expect(await stateOf(cast, joined)).toEqual({ isDeleted: false, events: [removed('left')] });
    });
  });

  it('ends the pending invitations of who leaves, is demoted or removed, and no other', async () => {
    const { org, owner, admin, member, coOwner } = await anOrgWithTwoOwners(service);
    await service.db.query(
      `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
         created_at, expires_at) VALUES ${[owner, admin, member, coOwner].map(() => "(?, ?, ?, 'member', 'pending', 1, 1, 0, ?, 1, 4000000000000)").join()}`,
      [owner, admin, member, coOwner].flatMap(({ id, email }) => [id, org.id, email, id]),
    );
    const pending = async (): Promise<string[]> => {
      const rows = await service.db.query(
        'SELECT invited_by FROM invitations WHERE org_id = ? AND pending = 1',
        [org.id],
      );
      return rows.map(({ invited_by }) => String(invited_by)).toSorted();
    };
    const members = `/api/orgs/${org.id}/members`;

    expect((await coOwner.patch(`${members}/${owner.id}`, { role: 'admin' })).status).toBe(200);
    expect(await pending()).toEqual([owner.id, admin.id, member.id, coOwner.id].toSorted());
    expect((await coOwner.patch(`${members}/${owner.id}`, { role: 'member' })).status).toBe(200);
    expect(await pending()).toEqual([admin.id, member.id, coOwner.id].toSorted());
    expect((await coOwner.delete(`${members}/${admin.id}`)).status).toBe(200);
    expect(await pending()).toEqual([member.id, coOwner.id].toSorted());
    expect((await member.post(leave(org.id))).status).toBe(200);
    expect(await pending()).toEqual([coOwner.id]);
  });
});
