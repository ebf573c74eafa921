import { afterAll, describe, expect, it } from 'vitest';
import { insufficientRole, lastOwner, orgNotFound, stepUpRequired } from '../support/expected.js';
import { changeRole, membersOf } from '../support/org-members.js';
import { type Account, anOrg, anOrgWithTwoOwners, anUnknownId, byCode } from '../support/personas.js';
import { insertRow } from '../support/rows.js';
import { startService } from '../support/service.js';

const WINDOW_MS = 30 * 86_400_000;

const service = await startService();
afterAll(() => service.stop());

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

  it('is for owners, logged in by password', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const byToken = await byCode(service, owner);

    expect(await admin.delete(orgPath(org.id))).toMatchObject(insufficientRole('owner', 'admin'));
    expect(await member.delete(orgPath(org.id))).toMatchObject(insufficientRole('owner', 'member'));
    expect(await byToken.delete(orgPath(org.id))).toMatchObject(stepUpRequired);
    expect((await owner.get(orgPath(org.id))).status).toBe(200);
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
    expect(await restore(await byCode(service, owner), org)).toMatchObject(stepUpRequired);
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
