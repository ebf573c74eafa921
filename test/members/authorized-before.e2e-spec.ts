import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import {
  insufficientRole,
  invalidToken,
  lastOwner,
  memberDisabled,
  memberNotFound,
  notAMember,
  orgNotFound,
  userNotFound,
} from '../support/expected.js';
import { roleOf as roleIn } from '../support/inviting.js';
import { addMember, changeRole, removeMember } from '../support/org-members.js';
import type { Account, Cast } from '../support/personas.js';
import { anOrg, anOrgWithTwoOwners } from '../support/personas.js';
import { startService } from '../support/service.js';
import { accounts } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { answerAfter as answerAfterAt, type HeldRows, holdRows } from '../support/held-rows.js';

const service = await startService();

type Meanwhile = (held: HeldRows) => Promise<void>;
type Send = (cast: Cast) => Promise<Answer>;

/** Each request passes its first checks, then waits for a change of others that makes them wrong. */
describe('a change that was authorized before another one', () => {
  const answerAfter = (change: Meanwhile, send: () => Promise<Answer>, end?: 'rollback') =>
    answerAfterAt(service, change, send, end);

  const touch = (held: HeldRows, { org }: Cast) =>
    held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
  const setRole =
    (cast: Cast, { id }: Account, role: string): Meanwhile =>
    async (held) => {
      await touch(held, cast);
      await held.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [
        role,
        cast.org.id,
        id,
      ]);
    };
  const remove =
    (cast: Cast, { id }: Account): Meanwhile =>
    async (held) => {
      await touch(held, cast);
      await held.write('DELETE FROM members WHERE org_id = ? AND user_id = ?', [cast.org.id, id]);
    };
  const deleteUser =
    ({ id }: Account): Meanwhile =>
    (held) =>
      held.write('DELETE FROM users WHERE id = ?', [id]);
  const markDeleted =
    ({ org }: Cast): Meanwhile =>
    (held) =>
      held.write(
        'UPDATE orgs SET revision = revision + 1, deleted_at = 1, purge_at = 4000000000000 WHERE id = ?',
        [org.id],
      );
  const roleOf = ({ org }: Cast, who: Account) => roleIn(service.db, org, who);

  const orgPath = ({ org }: Cast): string => `/api/orgs/${org.id}`;
  const leave: Send = (cast) => cast.owner.post(`${orgPath(cast)}/leave`);
  const transfer = (cast: Cast, more: object = {}) =>
    cast.owner.post(`${orgPath(cast)}/transfer`, { userId: cast.member.id, ...more });
  const add: Send = ({ org, admin, outsider }) => addMember(admin, org, outsider);

  describe.each<[string, Send]>([
    ['add', add],
    ['change a role', ({ org, admin, member }) => changeRole(admin, org, member, 'admin')],
    ['remove', ({ org, admin, member }) => removeMember(admin, org, member)],
  ])('does not let an admin %s', (_what, send) => {
    it.each<[string, (cast: Cast) => Meanwhile, object]>([
      ['demoted', (cast) => setRole(cast, cast.admin, 'member'), insufficientRole('admin', 'member')],
      ['removed', (cast) => remove(cast, cast.admin), notAMember],
    ])('who was %s', async (_how, change, expected) => {
      const cast = await anOrg(service);
      expect(await answerAfter(change(cast), () => send(cast))).toMatchObject(expected);
      expect(await roleOf(cast, cast.outsider)).toBeUndefined();
      expect(await roleOf(cast, cast.member)).toBe('member');
    });

    it('of an organization that was deleted', async () => {
      const cast = await anOrg(service);
      const purge: Meanwhile = (held) => held.write('DELETE FROM orgs WHERE id = ?', [cast.org.id]);
      expect(await answerAfter(purge, () => send(cast))).toMatchObject(orgNotFound);
      expect(await service.db.query('SELECT * FROM members WHERE org_id = ?', [cast.org.id])).toEqual([]);
    });
  });

  it.each<[string, Send]>([
    ['rename', (cast) => cast.owner.patch(orgPath(cast), { name: 'Other' })],
    ['delete', (cast) => cast.owner.delete(orgPath(cast))],
    ['leave', leave],
    ['transfer', (cast) => transfer(cast)],
    ['add', ({ org, owner, outsider }) => addMember(owner, org, outsider)],
    ['change', ({ org, owner, member }) => changeRole(owner, org, member, 'owner')],
    ['remove', ({ org, owner, member }) => removeMember(owner, org, member)],
  ])('lets an owner %s nothing once the organization is deleted', async (_what, send) => {
    const cast = await anOrgWithTwoOwners(service);
    expect(await answerAfter(markDeleted(cast), () => send(cast))).toMatchObject(orgNotFound);
    const rows = await service.db.query('SELECT role FROM members WHERE org_id = ? ORDER BY role', [
      cast.org.id,
    ]);
    expect(rows.map(({ role }) => role)).toEqual(['admin', 'member', 'owner', 'owner']);
  });

  const byAdmin = insufficientRole('owner', 'admin');
  const demote = (cast: Cast): Meanwhile => setRole(cast, cast.owner, 'admin');
  const removeTarget = (cast: Cast): Meanwhile => remove(cast, cast.member);
  const deleteOrg: Send = (cast) => cast.owner.delete(orgPath(cast));
  const promote: Send = ({ org, owner, member }) => changeRole(owner, org, member, 'owner');
  it.each<[string, (cast: Cast & { coOwner: Account }) => Meanwhile, Send, object]>([
    ['delete by an owner who is an admin now', demote, deleteOrg, byAdmin],
    ['transfer by an owner who is an admin now', demote, transfer, byAdmin],
    ['leave by the last owner', (cast) => setRole(cast, cast.coOwner, 'admin'), leave, lastOwner],
    ['change a member who was removed', removeTarget, promote, memberNotFound],
    ['transfer to a removed member', removeTarget, (cast) => transfer(cast, { leave: true }), memberNotFound],
    ['add a user who was deleted', (cast) => deleteUser(cast.outsider), add, userNotFound],
  ])('is refused: %s', async (_what, change, send, expected) => {
    const cast = await anOrgWithTwoOwners(service);
    expect(await answerAfter(change(cast), () => send(cast))).toMatchObject(expected);
    expect(await roleOf(cast, cast.outsider)).toBeUndefined();
  });

  it('does not let an admin remove a member whom an owner has promoted', async () => {
    const cast = await anOrgWithTwoOwners(service);
    const { org, admin, member } = cast;
    const answer = await answerAfter(setRole(cast, member, 'owner'), () => removeMember(admin, org, member));
    expect(answer).toMatchObject(insufficientRole('owner', 'admin'));
    expect(await roleOf(cast, member)).toBe('owner');
  });

  it('adds a user whose deletion was rolled back', async () => {
    const cast = await anOrg(service);
    expect((await answerAfter(deleteUser(cast.outsider), () => add(cast), 'rollback')).status).toBe(201);
    expect(await roleOf(cast, cast.outsider)).toBe('member');
  });

  it('does not restore an organization whose purge began', async () => {
    const cast = await anOrg(service);
    await cast.owner.delete(orgPath(cast));
    const answer = await answerAfter(
      (held) =>
        held.write('UPDATE orgs SET revision = revision + 1, purge_began_at = 1 WHERE id = ?', [cast.org.id]),
      () => cast.owner.post(`${orgPath(cast)}/restore`),
    );
    expect(answer).toMatchObject(orgNotFound);
  });

  it.each<[string, (user: Account) => Meanwhile]>([
    ['deleted', deleteUser],
    [
      'disabled',
      ({ id }) =>
        (held) =>
          held.write('UPDATE users SET disabled_at = 1 WHERE id = ?', [id]),
    ],
  ])('creates nothing for a user who was %s', async (_how, change) => {
    const { outsider } = await anOrg(service);
    const name = `Org of ${outsider.email}`;
    const answer = await answerAfter(change(outsider), () => outsider.post('/api/orgs', { name }));
    expect(answer).toMatchObject(invalidToken);
    expect(await service.db.query('SELECT id FROM orgs WHERE name = ?', [name])).toEqual([]);
    expect(await service.db.query('SELECT * FROM members WHERE user_id = ?', [outsider.id])).toEqual([]);
  });

  // SQLite lets the command and the service wait for each other as whole transactions anyway.
  it.runIf(engine === 'mariadb')('is not handed over to a member who is being disabled', async () => {
    const cast = await anOrg(service);
    const held = await holdRows(service);
    // The command has disabled the user by now, and looks at their memberships.
    await held.write('UPDATE members SET joined_at = joined_at + 1 WHERE org_id = ? AND user_id = ?', [
      cast.org.id,
      cast.member.id,
    ]);
    const disabling = accounts(service.installation, ['users', 'disable', cast.member.id]);
    await held.untilOneWaits();
    const answer = transfer(cast, { leave: true });
    await held.untilWaiting(2);
    await held.commit();
    expect(await disabling).toMatchObject({ code: 0 });
    expect(await answer).toMatchObject(memberDisabled);
  });
});
