import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessCases, type AccessRoute, callerFor, idAt } from '../support/access-cases.js';
import {
  insufficientRole,
  invalidFields,
  malformedJson,
  notAMember,
  unsupportedMediaType,
} from '../support/expected.js';
import { anInvitation, invite, type Invitation, listed } from '../support/inviting.js';
import { anAccount, anEmail, anOrg, anUnknownId, type Cast, join, ROLES } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

interface Route extends AccessRoute {
  method: string;
  path: (invitation: Invitation) => string;
  body?: () => object;
}

const ROUTES: Route[] = [
  {
    name: 'invite',
    method: 'POST',
    path: () => '',
    body: () => ({ email: anEmail(), role: 'member', showCode: true }),
    success: 201,
    least: 'admin',
  },
  { name: 'list', method: 'GET', path: () => '', success: 200, least: 'admin' },
  {
    name: 'resend',
    method: 'POST',
    path: ({ id }) => `/${id}/resend`,
    body: () => ({ showCode: true }),
    success: 200,
    least: 'admin',
  },
  { name: 'revoke', method: 'DELETE', path: ({ id }) => `/${id}`, success: 200, least: 'admin' },
];

/** An organization with an invitation that is pending. */
interface Invited {
  cast: Cast;
  invitation: Invitation;
}

describe('access to invitations', () => {
  let service: Service;
  /** of the cases that change nothing */
  let unchanged: Invited;
  let other: Cast;

  beforeAll(async () => {
    service = await startService();
    [unchanged, other] = [await anInvited(), await anOrg(service)];
  });
  afterAll(() => service.stop());

  async function anInvited(): Promise<Invited> {
    const cast = await anOrg(service);
    return { cast, invitation: await anInvitation(cast.owner, cast.org, { email: anEmail() }) };
  }

  const cases = accessCases(ROUTES);
  it.each(cases)('$actor: $route.name, $place id', async ({ route, actor, place, expected, succeeds }) => {
    const { cast, invitation } = succeeds ? await anInvited() : unchanged;
    const { owner, org } = cast;
    const caller = callerFor(actor, service, cast, other);
    const id = idAt(place, org.id);
    const before = await listed(owner, org);

    const path = `/api/orgs/${id}/invitations${route.path(invitation)}`;
    const answer = await caller.sendJson(route.method, path, route.body?.());

    expect(answer, answer.text).toMatchObject(expected);
    const after = await listed(owner, org);
    expect(answer.status < 300 || isDeepStrictEqual(after, before), 'nothing has changed').toBe(true);
  });

  const wishes = ROLES.flatMap((actor) => ROLES.map((role) => ({ actor, role })));
  it.each(wishes)('$actor invites as $role', async ({ actor, role }) => {
    const { org, owner } = await anOrg(service);
    const who = await anAccount(service, 'actor');
    await join(org, owner, who, actor);

    const answer = await invite(who, org, { email: anEmail(), role: role as 'member' });

    const refused = actor === 'member' ? insufficientRole('admin', 'member') : invalidFields('role');
    expect(answer).toMatchObject(actor === 'member' || role === 'owner' ? refused : { status: 201 });
  });

  it('is checked before the body, and the body before the rules', async () => {
    const { org, outsider, member, owner } = await anOrg(service);
    const invitations = `/api/orgs/${org.id}/invitations`;

    for (const path of [invitations, `${invitations}/x/resend`]) {
      const text = { headers: { 'content-type': 'application/json' }, body: '[]' };
      expect(await outsider.post(path, { showCode: 1 })).toMatchObject(notAMember);
      expect(await member.post(path, { showCode: 1 })).toMatchObject(insufficientRole('admin', 'member'));
      expect(await owner.send('POST', path, text)).toMatchObject(malformedJson);
      expect(
        await owner.send('POST', path, { headers: { 'content-type': 'text/plain' }, body: '{}' }),
      ).toMatchObject(unsupportedMediaType);
    }
    const body = { email: member.email, role: 'owner', showCode: true };
    expect(await owner.post(invitations, body)).toMatchObject(invalidFields('role'));
    expect(await owner.post(`${invitations}/x/resend`, { showCode: 1 })).toMatchObject(
      invalidFields('showCode'),
    );
  });

  it('takes no further fields', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const { body } = await owner.post<{ invitation: Invitation }>(`/api/orgs/${org.id}/invitations`, {
      email: anEmail(),
      role: 'member',
      showCode: true,
      id: anUnknownId(),
      status: 'accepted',
      invitedBy: outsider.id,
      orgId: anUnknownId(),
      expiresAt: '2100-01-01T00:00:00.000Z',
    });
    expect(body.invitation).toMatchObject({ status: 'pending', invitedBy: { userId: owner.id } });
    expect(Date.parse(body.invitation.expiresAt)).toBeLessThan(Date.now() + 8 * 86_400_000);
  });
});
