import { afterAll, describe, expect, it } from 'vitest';
import {
  alreadyMember,
  insufficientRole,
  invalidFields,
  lastOwner,
  memberNotFound,
  notAMember,
  orgNotFound,
  passwordSessionRequired,
  unauthorized,
  userNotFound,
} from '../support/expected.js';
import { anEmail, anOrg, byCode, anUnknownId } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
const cast = await anOrg(service);
afterAll(() => service.stop());

/** Each request has every fault that comes after the one it must be answered with. */
describe('the order of checks', () => {
  it('is authentication first', async () => {
    const nowhere = `/api/orgs/${anUnknownId()}`;

    expect(await service.anyone.get(nowhere)).toMatchObject(unauthorized);
    expect(await service.anyone.post(`${nowhere}/members`, {})).toMatchObject(unauthorized);
    expect(await service.anyone.patch(`${nowhere}/members/x`, {})).toMatchObject(unauthorized);
    expect(await service.anyone.delete(`${nowhere}/members/x`)).toMatchObject(unauthorized);
    expect(await service.anyone.post('/api/orgs', {})).toMatchObject(unauthorized);
    expect(await service.anyone.patch(nowhere, {})).toMatchObject(unauthorized);
    expect(await service.anyone.delete(nowhere)).toMatchObject(unauthorized);
    for (const action of ['leave', 'transfer', 'restore'])
      expect(await service.anyone.post(`${nowhere}/${action}`, {})).toMatchObject(unauthorized);
    expect(await service.anyone.post('/api/auth/code', { codeChallenge: 0 })).toMatchObject(unauthorized);
  });

  it('then whether the organization exists', async () => {
    const nowhere = `/api/orgs/${anUnknownId()}`;

    expect(await cast.outsider.post(`${nowhere}/members`, {})).toMatchObject(orgNotFound);
    expect(await cast.outsider.patch(`${nowhere}/members/x`, {})).toMatchObject(orgNotFound);
    expect(await cast.outsider.delete(`${nowhere}/members/x`)).toMatchObject(orgNotFound);
    expect(await cast.outsider.get(`${nowhere}/members/x`)).toMatchObject(orgNotFound);
    expect(await cast.outsider.get(`${nowhere}/members?search=`)).toMatchObject(orgNotFound);
    expect(await cast.outsider.patch(nowhere, {})).toMatchObject(orgNotFound);
    // Before the kind of session, which would tell that there is one.
    const derived = await byCode(service, cast.outsider);
    expect(await derived.delete(nowhere)).toMatchObject(orgNotFound);
    expect(await derived.post(`${nowhere}/transfer`, {})).toMatchObject(orgNotFound);
    expect(await derived.post(`${nowhere}/leave`, {})).toMatchObject(orgNotFound);
  });

  it('then membership', async () => {
    const members = `/api/orgs/${cast.org.id}/members`;

    expect(await cast.outsider.post(members, {})).toMatchObject(notAMember);
    expect(await cast.outsider.patch(`${members}/x`, {})).toMatchObject(notAMember);
    expect(await cast.outsider.delete(`${members}/x`)).toMatchObject(notAMember);
    expect(await cast.outsider.get(`${members}?role=`)).toMatchObject(notAMember);
    const org = `/api/orgs/${cast.org.id}`;
    const derived = await byCode(service, cast.outsider);
    expect(await derived.delete(org)).toMatchObject(notAMember);
    expect(await derived.post(`${org}/transfer`, {})).toMatchObject(notAMember);
  });

  it('then the role', async () => {
    const members = `/api/orgs/${cast.org.id}/members`;
    const tooLow = insufficientRole('admin', 'member');

    expect(await cast.member.post(members, {})).toMatchObject(tooLow);
    expect(await cast.member.patch(`${members}/x`, {})).toMatchObject(tooLow);
    expect(await cast.member.delete(`${members}/x`)).toMatchObject(tooLow);
    expect(await cast.member.delete(`${members}/${cast.owner.id}`)).toMatchObject(tooLow);
    expect(await cast.member.patch(`/api/orgs/${cast.org.id}`, {})).toMatchObject(tooLow);
    expect(await cast.admin.post(`/api/orgs/${cast.org.id}/transfer`, {})).toMatchObject(
      insufficientRole('owner', 'admin'),
    );
  });

  it('then the kind of session', async () => {
    const derived = await byCode(service, cast.owner);
    expect(await derived.post(`/api/orgs/${cast.org.id}/transfer`, {})).toMatchObject(
      passwordSessionRequired,
    );
  });

  it('then the body', async () => {
    const members = `/api/orgs/${cast.org.id}/members`;

    expect(await cast.admin.post(members, { email: anEmail(), role: 'owner' })).toMatchObject(
      invalidFields('role'),
    );
    expect(await cast.admin.patch(`${members}/x`, { role: 'root' })).toMatchObject(invalidFields('role'));
    expect(await cast.admin.patch(`${members}/${cast.owner.id}`, {})).toMatchObject(invalidFields('role'));
  });

  it('then the target, and last the rules about it', async () => {
    const members = `/api/orgs/${cast.org.id}/members`;

    expect(await cast.admin.post(members, { email: anEmail(), role: 'admin' })).toMatchObject(userNotFound);
    expect(await cast.admin.post(members, { email: cast.owner.email, role: 'admin' })).toMatchObject(
      alreadyMember,
    );
    for (const nobody of ['x', anUnknownId()]) {
      expect(await cast.admin.patch(`${members}/${nobody}`, { role: 'owner' })).toMatchObject(memberNotFound);
      expect(await cast.admin.delete(`${members}/${nobody}`)).toMatchObject(memberNotFound);
    }
    // The only owner: permission is asked before the rule of the last owner.
    expect(await cast.admin.patch(`${members}/${cast.owner.id}`, { role: 'member' })).toMatchObject(
      insufficientRole('owner', 'admin'),
    );
    expect(await cast.admin.delete(`${members}/${cast.owner.id}`)).toMatchObject(
      insufficientRole('owner', 'admin'),
    );
    expect(await cast.owner.delete(`${members}/${cast.owner.id}`)).toMatchObject(lastOwner);
  });
});
