import { afterAll, describe, expect, it } from 'vitest';
import {
  insufficientRole,
  invalidFields,
  memberDisabled,
  memberNotFound,
  notAMember,
  passwordSessionRequired,
} from '../support/expected.js';
import { anOrg, anOrgWithTwoOwners, anUnknownId, byCode, type Cast } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('handing an organization over', () => {
  const transfer = ({ org }: Cast): string => `/api/orgs/${org.id}/transfer`;
  const rolesIn = async ({ org }: Cast): Promise<Record<string, unknown>> => {
    const rows = await service.db.query('SELECT user_id, role FROM members WHERE org_id = ?', [org.id]);
    return Object.fromEntries(rows.map(({ user_id, role }) => [String(user_id), role]));
  };

  it.each(['member', 'admin'] as const)('makes the %s owner and the caller admin', async (role) => {
    const cast = await anOrg(service);

    const answer = await cast.owner.post(transfer(cast), { userId: cast[role].id });

    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    expect(await rolesIn(cast)).toMatchObject({ [cast[role].id]: 'owner', [cast.owner.id]: 'admin' });
  });

  it('lets the caller leave in the same step', async () => {
    const cast = await anOrg(service);

    const answer = await cast.owner.post(transfer(cast), { userId: cast.member.id, leave: true });

    expect(answer.status).toBe(200);
    expect(await rolesIn(cast)).toEqual({ [cast.member.id]: 'owner', [cast.admin.id]: 'admin' });
    expect(await cast.owner.get(`/api/orgs/${cast.org.id}`)).toMatchObject(notAMember);
  });

  it('to another owner changes the caller alone', async () => {
    const cast = await anOrgWithTwoOwners(service);

    expect((await cast.owner.post(transfer(cast), { userId: cast.coOwner.id, leave: false })).status).toBe(
      200,
    );

    expect(await rolesIn(cast)).toMatchObject({ [cast.coOwner.id]: 'owner', [cast.owner.id]: 'admin' });
  });

  it('is refused to oneself, to nobody, and to a member who is disabled', async () => {
    const cast = await anOrg(service);
    const { owner, member, outsider } = cast;
    const before = await rolesIn(cast);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [member.id]);

    expect(await owner.post(transfer(cast), { userId: owner.id })).toMatchObject(invalidFields('userId'));
    expect(await owner.post(transfer(cast), { userId: outsider.id })).toMatchObject(memberNotFound);
    expect(await owner.post(transfer(cast), { userId: anUnknownId() })).toMatchObject(memberNotFound);
    expect(await owner.post(transfer(cast), { userId: member.id, leave: true })).toMatchObject(
      memberDisabled,
    );

    expect(await rolesIn(cast)).toEqual(before);
  });

  it.each([
    [{}, ['userId']],
    [{ userId: 'nobody' }, ['userId']],
    [{ userId: 7, leave: 'yes' }, ['userId', 'leave']],
    [{ userId: anUnknownId(), leave: null }, ['leave']],
    [{ userId: [anUnknownId()], leave: 1 }, ['userId', 'leave']],
  ])('refuses %j', async (body, fields) => {
    const cast = await anOrg(service);
    expect(await cast.owner.post(transfer(cast), body)).toMatchObject(invalidFields(...fields));
  });

  it('is for owners, logged in by password', async () => {
    const cast = await anOrg(service);
    const body = { userId: cast.member.id };

    expect(await cast.admin.post(transfer(cast), body)).toMatchObject(insufficientRole('owner', 'admin'));
    expect(await cast.member.post(transfer(cast), body)).toMatchObject(insufficientRole('owner', 'member'));
    expect(await (await byCode(service, cast.owner)).post(transfer(cast), body)).toMatchObject(
      passwordSessionRequired,
    );
    // Who may not is told that first.
    expect(await (await byCode(service, cast.admin)).post(transfer(cast), body)).toMatchObject(
      insufficientRole('owner', 'admin'),
    );
  });
});
