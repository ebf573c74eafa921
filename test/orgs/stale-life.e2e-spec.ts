import { afterAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import {
  insufficientRole,
  invalidToken,
  lastOwner,
  memberDisabled,
  memberNotFound,
  orgNotFound,
} from '../support/expected.js';
import { engine } from '../support/engine.js';
import { type HeldRows, holdRows } from '../support/held-rows.js';
import { anOrg, anOrgWithTwoOwners, type Cast } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const DELETED =
  'UPDATE orgs SET revision = revision + 1, deleted_at = 1, purge_at = 4000000000000 WHERE id = ?';

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off' } });
afterAll(() => service.stop());

/** Each request passes its first checks, then waits for a change of others that makes them wrong. */
describe('an organization that changes after a request was authorized', () => {
  async function answerAfter(
    change: (held: HeldRows) => Promise<void>,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    const held = await holdRows(service);
    try {
      await change(held);
      const answer = send();
      await held.untilOneWaits();
      await held.commit();
      return await answer;
    } catch (error) {
      await held.rollback().catch(() => undefined);
      throw error;
    }
  }

  const org = ({ org: { id } }: Cast): string => `/api/orgs/${id}`;
  const setRole = async (held: HeldRows, cast: Cast, userId: string, role: string): Promise<void> => {
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [cast.org.id]);
    await held.write('UPDATE members SET role = ? WHERE org_id = ? AND user_id = ?', [
      role,
      cast.org.id,
      userId,
    ]);
  };

  describe.each<[string, (cast: Cast) => Promise<Answer>]>([
    ['rename', (cast) => cast.owner.patch(org(cast), { name: 'Other' })],
    ['delete', (cast) => cast.owner.delete(org(cast))],
    ['leave', (cast) => cast.owner.post(`${org(cast)}/leave`)],
    ['transfer', (cast) => cast.owner.post(`${org(cast)}/transfer`, { userId: cast.member.id })],
    [
      'add',
      (cast) => cast.owner.post(`${org(cast)}/members`, { email: cast.outsider.email, role: 'member' }),
    ],
    ['change', (cast) => cast.owner.patch(`${org(cast)}/members/${cast.member.id}`, { role: 'owner' })],
    ['remove', (cast) => cast.owner.delete(`${org(cast)}/members/${cast.member.id}`)],
  ])('lets an owner %s', (name, send) => {
    it('nothing once it is deleted', async () => {
      const cast = await anOrgWithTwoOwners(service);

      expect(
        await answerAfter(
          (held) => held.write(DELETED, [cast.org.id]),
          () => send(cast),
        ),
      ).toMatchObject(orgNotFound);

      const rows = await service.db.query('SELECT role FROM members WHERE org_id = ? ORDER BY role', [
        cast.org.id,
      ]);
      expect(rows.map(({ role }) => role)).toEqual(['admin', 'member', 'owner', 'owner']);
    });

    it.runIf(['delete', 'transfer'].includes(name))('not once he is an admin', async () => {
      const cast = await anOrgWithTwoOwners(service);
      const answer = await answerAfter(
        (held) => setRole(held, cast, cast.owner.id, 'admin'),
        () => send(cast),
      );
      expect(answer).toMatchObject(insufficientRole('owner', 'admin'));
    });
  });

  it('keeps its last owner, who was not the last at first', async () => {
    const cast = await anOrgWithTwoOwners(service);
    const answer = await answerAfter(
      (held) => setRole(held, cast, cast.coOwner.id, 'admin'),
      () => cast.owner.post(`${org(cast)}/leave`),
    );
    expect(answer).toMatchObject(lastOwner);
  });

  it('is not handed over to a member who was removed', async () => {
    const cast = await anOrg(service);
    const answer = await answerAfter(
      async (held) => {
        await setRole(held, cast, cast.owner.id, 'owner');
        await held.write('DELETE FROM members WHERE org_id = ? AND user_id = ?', [
          cast.org.id,
          cast.member.id,
        ]);
      },
      () => cast.owner.post(`${org(cast)}/transfer`, { userId: cast.member.id, leave: true }),
    );
    expect(answer).toMatchObject(memberNotFound);
  });

  it('is restored once, and not after its purge began', async () => {
    const cast = await anOrg(service);
    await cast.owner.delete(org(cast));
    const answer = await answerAfter(
      (held) =>
        held.write('UPDATE orgs SET revision = revision + 1, purge_began_at = 1 WHERE id = ?', [cast.org.id]),
      () => cast.owner.post(`${org(cast)}/restore`),
    );
    expect(answer).toMatchObject(orgNotFound);
  });

  it('is not created by somebody who was disabled', async () => {
    const { outsider } = await anOrg(service);
    const answer = await answerAfter(
      (held) => held.write('UPDATE users SET disabled_at = 1 WHERE id = ?', [outsider.id]),
      () => outsider.post('/api/orgs', { name: 'Own' }),
    );
    expect(answer).toMatchObject(invalidToken);
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
    const transfer = cast.owner.post(`${org(cast)}/transfer`, { userId: cast.member.id, leave: true });
    await held.untilTwoWait();
    await held.commit();

    expect(await disabling).toMatchObject({ code: 0 });
    expect(await transfer).toMatchObject(memberDisabled);
  });
});
