import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import type { RawRequest } from '../support/caller.js';
import {
  alreadyMember,
  insufficientRole,
  invalidFields,
  memberNotFound,
  notAMember,
} from '../support/expected.js';
import {
  addMember,
  changeRole,
  memberPath,
  membersOf,
  membersPath,
  removeMember,
} from '../support/org-members.js';
import {
  aCode,
  Account,
  anAccount,
  anEmail,
  anOrg,
  anOrgOf,
  anUnknownId,
  connectionTo,
  join,
  type Session,
} from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
/** of the cases that change nothing */
const cast = await anOrg(service);

describe('adding a member', () => {
  it('refuses an existing member, and leaves the role unchanged', async () => {
    const { org, owner, admin, member } = cast;
    const before = await membersOf(owner, org);
    for (const [who, role] of [
      [owner, 'member'],
      [admin, 'member'],
      [member, 'admin'],
      [member, 'member'],
    ] as const)
      expect(await addMember(admin, org, who, role)).toMatchObject(alreadyMember);
    expect(await membersOf(owner, org)).toEqual(before);
  });

  it.each(['owner', 'Owner', 'ADMIN', 'root', '', ' member', 'member,admin', [['admin']], 0, null, {}])(
    'refuses a role other than member and admin: %j',
    async (role) => {
      const { org, owner, outsider } = cast;
      const answer = await owner.post(membersPath(org), { email: outsider.email, role });
      expect(answer).toMatchObject(invalidFields('role'));
      expect((await outsider.get('/api/me')).body).toMatchObject({ orgs: [] });
    },
  );

  it('names every field that is wrong', async () => {
    const { org, owner } = cast;
    const add = (body: unknown) => owner.post(membersPath(org), body);
    expect(await add({})).toMatchObject(invalidFields('email', 'role'));
    for (const body of [{ email: [owner.email] }, { email: { $gt: '' } }, { userId: owner.id }])
      expect(await add({ ...body, role: 'member' })).toMatchObject(invalidFields('email'));
  });

  it('ignores unknown fields, and never binds them', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const other = await anOrgOf(owner, 'Other');
    const answer = await owner.post(membersPath(org), {
      email: outsider.email,
      role: 'member',
      userId: owner.id,
      orgId: other.id,
      organizationId: other.id,
      isAdmin: true,
      joinedAt: 0,
    });
    expect(answer.body).toEqual({ member: { userId: outsider.id, role: 'member' } });
    expect(await membersOf(owner, other)).toHaveLength(1);
  });

  it('does not tell members and outsiders who has an account', async () => {
    const known = await anAccount(service);
    const withoutRequestId = ({ body }: Answer) => ({ ...(body as object), requestId: 'any' });
    for (const nosy of [cast.member, cast.outsider]) {
      const [one, other] = [
        await addMember(nosy, cast.org, known),
        await addMember(nosy, cast.org, { email: anEmail() }),
      ];
      expect([one.status, other.status]).toEqual([403, 403]);
      expect(withoutRequestId(one)).toEqual(withoutRequestId(other));
    }
  });
});

describe('changing a role', () => {
  it.each(['owner', 'admin', 'member'] as const)(
    'changes nothing when the %s has the role already',
    async (role) => {
      const { org, owner } = cast;
      const before = await membersOf(owner, org);
      const { status, body } = await changeRole(owner, org, cast[role], role);
      expect([status, body]).toEqual([200, { member: { userId: cast[role].id, role } }]);
      expect(await membersOf(owner, org)).toEqual(before);
    },
  );

  it('takes effect at the next request, with the same tokens', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    await changeRole(owner, org, admin, 'member');
    expect(await addMember(admin, org, outsider)).toMatchObject(insufficientRole('admin', 'member'));
    await changeRole(owner, org, member, 'admin');
    expect((await addMember(member, org, outsider)).status).toBe(201);
  });

  it.each(['Owner', 'root', '', 'admin ', 'member,owner', [['owner']], { role: 'owner' }, 0, true, null])(
    'refuses an unknown role: %j',
    async (role) => {
      const answer = await cast.owner.patch(memberPath(cast.org, cast.member), { role });
      expect(answer).toMatchObject(invalidFields('role'));
    },
  );

  it('requires a role', async () => {
    const path = memberPath(cast.org, cast.member);
    expect(await cast.owner.patch(path, {})).toMatchObject(invalidFields('role'));
    expect((await cast.owner.patch(path)).status).toBe(400);
  });

  it.each([anUnknownId(), '1', 'me', '%00', '%F0%9F%90%8E', '__proto__', 'x'.repeat(300)])(
    'finds no member under the id %s',
    async (id) => {
      const answer = await changeRole(cast.owner, cast.org, { id }, 'admin');
      expect(answer, answer.text).toMatchObject(memberNotFound);
    },
  );

  it('does not reach users and members of another organization', async () => {
    const theirs = await anOrg(service);
    const before = await membersOf(theirs.owner, theirs.org);
    for (const target of [theirs.member, theirs.admin, theirs.owner, theirs.outsider])
      expect(await changeRole(cast.admin, cast.org, target, 'member')).toMatchObject(memberNotFound);
    expect(await membersOf(theirs.owner, theirs.org)).toEqual(before);
  });

  it('changes one membership, not the others of the same user', async () => {
    const { org, owner, member } = await anOrg(service);
    const own = await anOrgOf(member, 'Own');
    await owner.patch(memberPath(org, member), { role: 'admin', orgId: own.id, userId: owner.id });
    expect(await membersOf(member, own)).toEqual([{ userId: member.id, email: member.email, role: 'owner' }]);
    expect((await membersOf(owner, org))[0]).toMatchObject({ userId: owner.id, role: 'owner' });
  });
});

describe('removing a member', () => {
  it.each<[string, RawRequest]>([
    ['no body', {}],
    ['{}', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['an empty JSON body', { headers: { 'content-type': 'application/json' } }],
  ])('removes the member, once, with %s', async (_what, request) => {
    const { org, admin, member } = await anOrg(service);
    const remove = () => admin.send('DELETE', memberPath(org, member), request);
    const { status, body, text } = await remove();
    expect([status, body], text).toEqual([200, { ok: true }]);
    expect((await membersOf(admin, org)).map(({ userId }) => userId)).not.toContain(member.id);
    expect(await remove()).toMatchObject(memberNotFound);
  });

  it('takes effect at the next request', async () => {
    const { org, owner, admin } = await anOrg(service);
    await removeMember(owner, org, admin);
    expect(await admin.get(`/api/orgs/${org.id}`)).toMatchObject(notAMember);
    expect(await admin.get(membersPath(org))).toMatchObject(notAMember);
    expect(await removeMember(admin, org, owner)).toMatchObject(notAMember);
  });

  it('leaves the account, which can be added again in another role', async () => {
    const { org, owner, admin } = await anOrg(service);
    await removeMember(owner, org, admin);
    expect((await admin.get('/api/me')).status).toBe(200);
    await join(org, owner, admin, 'member');
    expect((await admin.get(`/api/orgs/${org.id}`)).status).toBe(200);
  });

  it('does not reach members of another organization', async () => {
    const theirs = await anOrg(service);
    expect(await removeMember(cast.admin, cast.org, theirs.member)).toMatchObject(memberNotFound);
    expect(await removeMember(cast.admin, theirs.org, theirs.member)).toMatchObject(notAMember);
    expect((await theirs.member.get(`/api/orgs/${theirs.org.id}`)).status).toBe(200);
  });
});

describe('a single member', () => {
  it('is read by id, or as me, by every member', async () => {
    const { org, owner, admin, member } = cast;
    const joinedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    const shown = { member: { userId: admin.id, email: admin.email, role: 'admin', joinedAt } };
    expect(await member.get(memberPath(org, admin))).toMatchObject({ status: 200, body: shown });
    expect((await admin.get(`${membersPath(org)}/me`)).body).toEqual(shown);
    const me = await owner.get(`${membersPath(org)}/me`);
    expect(me.body).toMatchObject({ member: { userId: owner.id, role: 'owner' } });
  });

  it('is not found who is none', async () => {
    for (const id of [cast.outsider.id, anUnknownId(), 'x', 'ME', '%00'])
      expect(await cast.member.get(memberPath(cast.org, { id })), id).toMatchObject(memberNotFound);
  });
});

describe('a user who was imported', () => {
  /** As after an import: a foreign id, and a hash that this service can verify. */
  async function anImportedUser(id: string, like: Account): Promise<Account> {
    const credentials = { email: anEmail('imported'), password: like.password };
    await service.db.query(
      `INSERT INTO users (id, email, password_hash, created_at)
        SELECT ?, ?, password_hash, created_at FROM users WHERE id = ?`,
      [id, credentials.email, like.id],
    );
    const { status, body, text } = await service.anyone.post<Session>('/api/auth/login', credentials);
    expect(status, text).toBe(200);
    expect(body.user).toEqual({ id, email: credentials.email });
    return new Account(connectionTo(service), body.token, id, credentials.email, like.password);
  }

  it.each([1, 3, 4, 5, 6, 8])('with a UUID of version %i can do what others can', async (version) => {
    const native = await anAccount(service, 'native');
    const imported = await anImportedUser(`9b2e6c1f-03d4-${version}f6a-8c15-5d0e7a3b92c4`, native);
    expect((await imported.get('/api/me')).body).toMatchObject({ user: { id: imported.id } });
    const code = await aCode(imported);
    const exchanged = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
    expect((await imported.withToken(exchanged.body.token).get('/api/me')).status).toBe(200);
    const own = await anOrgOf(imported);
    await join(own, imported, native, 'owner');
    const changed = await changeRole(native, own, imported, 'admin');
    expect(changed.body).toEqual({ member: { userId: imported.id, role: 'admin' } });
    expect((await imported.get(`${membersPath(own)}?limit=1`)).status).toBe(200);
    expect((await removeMember(native, own, imported)).body).toEqual({ ok: true });
    expect(await removeMember(native, own, imported)).toMatchObject(memberNotFound);
  });
});
