import { afterAll, describe, expect, it } from 'vitest';
import {
  insufficientRole,
  lastOwner,
  orgNotFound,
  passwordSessionRequired,
  tooManyOrgs,
} from '../support/expected.js';
import { addCrowd } from '../support/large-org.js';
import { PausedReader } from '../support/paused-reader.js';
import { type Account, anAccount, anOrg, anOrgOf, anOrgWithTwoOwners, byCode } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const WINDOW_MS = 30 * 86_400_000;

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off', MAX_ORGS_PER_USER: '2' } });
afterAll(() => service.stop());

describe('deleting an organization', () => {
  const orgPath = (id: string): string => `/api/orgs/${id}`;

  it('says until when it can be restored', async () => {
    const { org, owner } = await anOrg(service);
    const before = Date.now();

    const { status, body } = await owner.delete<{ ok: true; purgeAt: string }>(orgPath(org.id));

    expect([status, body.ok]).toEqual([200, true]);
    expect(Date.parse(body.purgeAt)).toBeGreaterThanOrEqual(before + WINDOW_MS);
    expect(Date.parse(body.purgeAt)).toBeLessThanOrEqual(Date.now() + WINDOW_MS);
    expect((await owner.get('/api/me/deleted-orgs')).body).toEqual({
      orgs: [
        {
          id: org.id,
          name: org.name,
          deletedAt: new Date(Date.parse(body.purgeAt) - WINDOW_MS).toISOString(),
          purgeAt: body.purgeAt,
        },
      ],
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

    expect(await admin.delete(orgPath(org.id))).toMatchObject(insufficientRole('owner', 'admin'));
    expect(await member.delete(orgPath(org.id))).toMatchObject(insufficientRole('owner', 'member'));
    expect(await (await byCode(service, owner)).delete(orgPath(org.id))).toMatchObject(
      passwordSessionRequired,
    );
    expect((await owner.get(orgPath(org.id))).status).toBe(200);
  });

  it('revokes its pending invitations', async () => {
    const { org, owner, outsider } = await anOrg(service);
    await service.db.query(
      `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
         created_at, expires_at) VALUES (?, ?, ?, 'member', 'pending', 1, 1, 0, ?, 1, 4000000000000)`,
      [org.id, org.id, outsider.email, owner.id],
    );

    await owner.delete(orgPath(org.id));

    const rows = await service.db.query('SELECT status, pending FROM invitations WHERE org_id = ?', [org.id]);
    expect(rows).toEqual([{ status: 'revoked', pending: null }]);
  });

  it('cuts off who is reading its list', async () => {
    const { org, owner, member } = await anOrg(service);
    await addCrowd(service.db, org, 20_000);
    const streams = await Promise.all(
      ['', '/members'].map((suffix) => PausedReader.get(service, orgPath(org.id) + suffix, member)),
    );

    await owner.delete(orgPath(org.id));

    for (const stream of streams) expect(await stream.readOn()).toMatchObject({ whole: false });
    expect(await member.get(orgPath(org.id))).toMatchObject(orgNotFound);
  });

  it('counts for the limit of organizations until it is purged', async () => {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    await anOrgOf(owner);

    await owner.delete(orgPath(org.id));

    expect(await owner.post('/api/orgs', { name: 'One more' })).toMatchObject(tooManyOrgs);
  });

  describe('leaves the accounts in it free', () => {
    const deleteAccount = ({ password }: Account, who: Account) => who.delete('/api/me', { password });

    it('to be deleted, also its last owner; the membership goes with the account', async () => {
      const { org, owner, coOwner } = await anOrgWithTwoOwners(service);
      await owner.delete(orgPath(org.id));

      expect((await deleteAccount(owner, owner)).status).toBe(200);
      expect((await deleteAccount(coOwner, coOwner)).status).toBe(200);

      const left = await service.db.query("SELECT 1 FROM members WHERE org_id = ? AND role = 'owner'", [
        org.id,
      ]);
      expect(left).toEqual([]);
      const [event] = await service.db.query(
        "SELECT data FROM events WHERE org_id = ? AND user_id = ? AND type = 'member.removed'",
        [org.id, owner.id],
      );
      expect(JSON.parse(String(event!['data']))).toEqual({ role: 'owner', reason: 'account_deleted' });
    });

    it('but not of one that is there', async () => {
      const { owner } = await anOrg(service);
      expect(await deleteAccount(owner, owner)).toMatchObject(lastOwner);
    });
  });
});
