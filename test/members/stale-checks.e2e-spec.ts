import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import {
  insufficientRole,
  invalidToken,
  memberNotFound,
  notAMember,
  orgNotFound,
  userNotFound,
} from '../support/expected.js';
import { type HeldRows, holdRows } from '../support/held-rows.js';
import { anOrg, anOrgWithTwoOwners, type Cast } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

/** Each request passes its first checks, then waits for a change of others that makes them wrong. */
describe('changes made after a request was authorized', () => {
  /** Sends the request while the change is not committed yet, and ends that when the request waits for it. */
  async function answerAfter(
    change: (held: HeldRows) => Promise<void>,
    send: () => Promise<Answer>,
    end: 'commit' | 'rollback' = 'commit',
  ): Promise<Answer> {
    const held = await holdRows(service);
    try {
      await change(held);
      const answer = send();
      await held.untilOneWaits();
      await held[end]();
      return await answer;
    } catch (error) {
      await held.rollback().catch(() => undefined);
      throw error;
    }
  }

  const touchOrg =
    ({ org }: Cast) =>
    (held: HeldRows) =>
      held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
  const setRole = (held: HeldRows, { org }: Cast, userId: string, role: string) =>
    held.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [role, org.id, userId]);
  const deleteUser = (userId: string) => (held: HeldRows) =>
    held.write('DELETE FROM users WHERE id = ?', [userId]);
  const members = ({ org }: Cast) => `/api/orgs/${org.id}/members`;
  const add = (cast: Cast) => () =>
    cast.admin.post(members(cast), { email: cast.outsider.email, role: 'member' });
  const roleOf = async ({ org }: Cast, userId: string) =>
    (
      await service.db.query('SELECT role FROM members WHERE org_id = ? AND user_id = ?', [org.id, userId])
    )[0]?.['role'];

  describe.each<[string, (cast: Cast) => Promise<Answer>]>([
    ['add', (cast) => add(cast)()],
    ['change a role', (cast) => cast.admin.patch(`${members(cast)}/${cast.member.id}`, { role: 'admin' })],
    ['remove', (cast) => cast.admin.delete(`${members(cast)}/${cast.member.id}`)],
  ])('does not let an admin %s', (_what, send) => {
    it('who was demoted', async () => {
      const cast = await anOrg(service);

      const answer = await answerAfter(
        async (held) => {
          await touchOrg(cast)(held);
          await setRole(held, cast, cast.admin.id, 'member');
        },
        () => send(cast),
      );

      expect(answer).toMatchObject(insufficientRole('admin', 'member'));
      expect(await roleOf(cast, cast.outsider.id)).toBeUndefined();
      expect(await roleOf(cast, cast.member.id)).toBe('member');
    });

    it('who was removed', async () => {
      const cast = await anOrg(service);

      const answer = await answerAfter(
        async (held) => {
          await touchOrg(cast)(held);
          await held.write('DELETE FROM members WHERE org_id = ? AND user_id = ?', [
            cast.org.id,
            cast.admin.id,
          ]);
        },
        () => send(cast),
      );

      expect(answer).toMatchObject(notAMember);
      expect(await roleOf(cast, cast.member.id)).toBe('member');
    });

    it('of an organization that was deleted', async () => {
      const cast = await anOrg(service);

      const answer = await answerAfter(
        (held) => held.write('DELETE FROM orgs WHERE id = ?', [cast.org.id]),
        () => send(cast),
      );

      expect(answer).toMatchObject(orgNotFound);
      expect(await service.db.query('SELECT * FROM members WHERE org_id = ?', [cast.org.id])).toEqual([]);
    });
  });

  it('does not let an admin remove a member whom an owner has promoted', async () => {
    const cast = await anOrgWithTwoOwners(service);

    const answer = await answerAfter(
      async (held) => {
        await touchOrg(cast)(held);
        await setRole(held, cast, cast.member.id, 'owner');
      },
      () => cast.admin.delete(`${members(cast)}/${cast.member.id}`),
    );

    expect(answer).toMatchObject(insufficientRole('owner', 'admin'));
    expect(await roleOf(cast, cast.member.id)).toBe('owner');
  });

  it('answers 404 for a member who was removed', async () => {
    const cast = await anOrg(service);

    const answer = await answerAfter(
      async (held) => {
        await touchOrg(cast)(held);
        await held.write('DELETE FROM members WHERE org_id = ? AND user_id = ?', [
          cast.org.id,
          cast.member.id,
        ]);
      },
      () => cast.owner.patch(`${members(cast)}/${cast.member.id}`, { role: 'owner' }),
    );

    expect(answer).toMatchObject(memberNotFound);
  });

  it('does not add a user who was deleted', async () => {
    const cast = await anOrg(service);

    const answer = await answerAfter(deleteUser(cast.outsider.id), add(cast));

    expect(answer).toMatchObject(userNotFound);
    expect(await roleOf(cast, cast.outsider.id)).toBeUndefined();
  });

  it('adds a user whose deletion was rolled back', async () => {
    const cast = await anOrg(service);

    const answer = await answerAfter(deleteUser(cast.outsider.id), add(cast), 'rollback');

    expect(answer.status).toBe(201);
    expect(await roleOf(cast, cast.outsider.id)).toBe('member');
  });

  it('creates nothing for a user who was deleted', async () => {
    const { outsider } = await anOrg(service);
    const name = `Org of ${outsider.email}`;

    const answer = await answerAfter(deleteUser(outsider.id), () => outsider.post('/api/orgs', { name }));

    expect(answer).toMatchObject(invalidToken);
    expect(await service.db.query('SELECT id FROM orgs WHERE name = ?', [name])).toEqual([]);
  });
});
