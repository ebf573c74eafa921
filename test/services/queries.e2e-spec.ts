import { pagesOf } from '../support/pages.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, bodyOf } from '../support/answer.js';
import { insufficientScope, invalidClient, invalidFields } from '../support/expected.js';
import { verified } from '../support/inviting.js';
import {
  type Account,
  aCode,
  anAccount,
  anOrg,
  anOrgOf,
  anUnknownId,
  aPassword,
  byCode,
  join,
  logIn,
} from '../support/personas.js';
import { aRefreshableLogin } from '../support/refreshing.js';
import { disable } from '../support/org-members.js';
import { aBoundToken, aServiceCaller } from '../support/services.js';
import { startSharedCluster } from '../support/service.js';
import { aSigningKey, decodeToken, encodePart, sessionIdOf, signToken } from '../support/signing-keys.js';

type Part = Record<string, unknown>;

const INACTIVE = '{"active":false}';

const { instances } = await startSharedCluster();
const service = instances[0]!;
const billing = await aServiceCaller(service, 'introspect');
const reports = await aServiceCaller(service, 'introspect', 'memberships', 'events');

describe('introspection', () => {
  let ada: Account;
  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const now = (): number => Math.floor(Date.now() / 1000);

  /** Asks at every instance, and expects one answer. */
  async function introspected(parameters: Record<string, string>, asker = billing): Promise<Answer> {
    const answers = await Promise.all(instances.map((one) => asker.at(one).introspect(parameters)));
    const [first] = answers as [Answer, ...Answer[]];
    for (const { status, text } of answers) expect([status, text]).toEqual([200, first.text]);
    return first;
  }
  const isActive = async (token: string): Promise<boolean> => {
    const { text, body } = await introspected({ token });
    const { active } = body as { active: boolean };
    if (!active) expect(text).toBe(INACTIVE);
    return active;
  };

  it('answers with what a token is worth, and no cache may keep it', async () => {
    const { claims } = decodeToken(ada.token);

    const answer = await billing.introspect({ token: ada.token });

    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      active: true,
      token_type: 'Bearer',
      iss: 'accounts',
      aud: 'accounts',
      sub: ada.id,
      sid: claims['sid'],
      jti: claims['jti'],
      iat: claims['iat'],
      exp: claims['exp'],
      auth_time: claims['auth_time'],
      amr: ['pwd'],
      epoch: 0,
      client_id: 'accounts',
      username: ada.email,
      email_verified: false,
    });
    await verified(service.db, ada);
    expect((await introspected({ token: ada.token })).body).toMatchObject({ email_verified: true });
  });

  it('ignores the hint and what it does not know', async () => {
    const plain = await billing.introspect({ token: ada.token });
    for (const token_type_hint of ['access_token', 'refresh_token', 'nonsense', '']) {
      const hinted = await billing.introspect({ token: ada.token, token_type_hint, scope: 'x' });
      expect(hinted.text).toBe(plain.text);
    }
  });

  it('tells the role in the organization that is asked about', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const other = await anOrgOf(outsider);
    const orgOf = async ({ token }: Account, orgId = org.id) =>
      (await introspected({ token, orgId })).body as { org: object | null };
    const { revision } = (await orgOf(owner)).org as { revision: number };
    for (const [who, role] of [
      [owner, 'owner'],
      [admin, 'admin'],
      [member, 'member'],
    ] as const)
      expect((await orgOf(who)).org).toEqual({ id: org.id, role, revision });
    expect((await orgOf(outsider)).org).toBeNull();
    expect((await orgOf(owner, other.id)).org).toBeNull();
    expect((await orgOf(owner, anUnknownId())).org).toBeNull();
    expect(await introspected({ token: 'x.y.z', orgId: org.id })).toMatchObject({ text: INACTIVE });
    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    expect((await orgOf(member)).org).toEqual({ id: org.id, role: 'admin', revision: revision + 1 });
    await owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    expect(await orgOf(member)).toMatchObject({ active: true, org: null });
    await owner.delete(`/api/orgs/${org.id}`);
    expect(await orgOf(owner)).toMatchObject({ active: true, org: null });
  });

  describe('takes for active, as a request does, the token', () => {
    it.each<[string, () => Promise<string>]>([
      ['of a login', async () => ada.token],
      ['of a login that can be refreshed', async () => (await aRefreshableLogin(service, ada)).token],
      ['of a code', async () => (await byCode(service, ada)).token],
      ['of a code of a code', async () => (await byCode(service, await byCode(service, ada))).token],
      ['of before the password was changed, in the session that changed it', () => afterChange(ada.token)],
      ['within the leeway', async () => forged(() => ({ exp: now() - 5 }))],
    ])('%s', async (_what, tokenOf) => {
      const token = await tokenOf();
      expect((await ada.as(token).get('/api/me')).status).toBe(200);
      for (const asker of [billing, reports])
        expect((await introspected({ token }, asker)).body).toMatchObject({ active: true, sub: ada.id });
    });
  });

  async function afterChange(token: string): Promise<string> {
    const change = { currentPassword: ada.password, newPassword: aPassword() };
    expect((await ada.put('/api/me/password', change)).status).toBe(200);
    return token;
  }
  async function afterLogout(token: string): Promise<string> {
    expect((await ada.post('/api/auth/logout')).status).toBe(200);
    return token;
  }

  async function afterDeletion(): Promise<string> {
    expect((await ada.delete('/api/me', { password: ada.password })).status).toBe(200);
    return ada.token;
  }
  const ofSession = (of: Account) => forged(() => ({ sid: sessionIdOf(of) }));
  function unsigned(token: string): string {
    const { header, claims } = decodeToken(token);
    return `${encodePart({ ...header, alg: 'none' })}.${encodePart(claims)}.`;
  }

  function forged(claims: () => Part, header: Part = {}, key = service.installation.keys[0]!): string {
    const { header: own, claims: ownClaims } = decodeToken(ada.token);
    return signToken({ ...own, ...header }, { ...ownClaims, ...claims() }, key);
  }

  describe('gives one and the same answer to everybody, for a token that', () => {
    it.each<[string, () => Promise<string> | string]>([
      ['is expired', () => forged(() => ({ exp: now() - 31 }))],
      ['lives too long', () => forged(() => ({ exp: now() + 10 * 365 * 86_400 }))],
      ['is of another issuer', () => forged(() => ({ iss: 'somebody' }))],
      ['is for an unknown audience', () => forged(() => ({ aud: 'shop' }))],
      ['is for several audiences', () => forged(() => ({ aud: ['accounts', billing.name] }))],
      ['lacks its session', () => forged(() => ({ sid: undefined }))],
      ['is of no session', () => forged(() => ({ sid: anUnknownId() }))],
      ["names another user's session", async () => ofSession(await anAccount(service, 'eve'))],
      ['is signed by another key', () => forged(() => ({}), {}, aSigningKey())],
      ['names an unknown key', () => forged(() => ({}), { kid: anUnknownId() })],
      ['has another type', () => forged(() => ({}), { typ: 'JWT' })],
      ['is not signed', () => unsigned(ada.token)],
      ['says that it is not signed', () => forged(() => ({}), { alg: 'none' })],
      ['is a refresh token', async () => (await aRefreshableLogin(service, ada)).refreshToken],
      ['is a code', () => aCode(ada)],
      ['is a secret of a service', () => billing.secret],
      ['is nothing like one', () => 'x'],
      ['is a NUL', () => '\u0000'],
      ['stands after a scheme', () => `Bearer ${ada.token}`],
      ['stands after a space', () => ` ${ada.token}`],
      ['stands before a line break', () => `${ada.token}\n`],
      ['is twice there', () => `${ada.token},${ada.token}`],
      ['is long', () => `${'A'.repeat(5000)}.${'A'.repeat(5000)}.${'A'.repeat(5000)}`],
      ['was logged out', () => afterLogout(ada.token)],
      ['came from a code of a logged out login', async () => afterLogout((await byCode(service, ada)).token)],
      ['had its password changed elsewhere', async () => afterChange((await logIn(service, ada)).body.token)],
      ['is of a disabled user', () => disable(service.db, ada).then(() => ada.token)],
      ['is of a deleted user', () => afterDeletion()],
    ])('%s', async (_what, tokenOf) => {
      const token = await tokenOf();
      for (const asker of [billing, reports]) {
        const { text, headers } = await introspected({ token, orgId: anUnknownId() }, asker);
        expect(text).toBe(INACTIVE);
        expect([...headers.keys()].toSorted()).toEqual(await namesOfHeaders());
      }
      expect([401, 'no header']).toContain(await statusOf(token));
    });

    /** What a request with it gets, where a header can hold it. */
    const statusOf = async (token: string): Promise<number | string> =>
      /^[!-~]+$/.test(token) ? (await ada.as(token).get('/api/me')).status : 'no header';

    /** of the answer about an active token */
    async function namesOfHeaders(): Promise<string[]> {
      const { token } = await anAccount(service);
      return [...(await billing.introspect({ token })).headers.keys()].toSorted();
    }
  });

  describe('of a token that is bound to a service', () => {
    const boundClaims = (token: string, change: Part): string => {
      const { header, claims } = decodeToken(token);
      return signToken(header, { ...claims, ...change }, service.installation.keys[0]!);
    };

    it('tells that service the truth, and nothing to another', async () => {
      const token = await aBoundToken(billing, ada);
      expect((await ada.as(token).get('/api/me')).status).toBe(200);
      const answer = await introspected({ token });
      const { name } = billing;
      expect(answer.body).toMatchObject({ active: true, sub: ada.id, aud: name, client_id: name });
      expect((await introspected({ token }, reports)).text).toBe(INACTIVE);
    });

    it('takes none with an audience other than that of its session', async () => {
      const bound = await aBoundToken(billing, ada);
      for (const [token, audience] of [
        [bound, 'accounts'],
        [bound, reports.name],
        [ada.token, billing.name],
        [ada.token, reports.name],
      ] as const) {
        const forgery = boundClaims(token, { aud: audience, client_id: audience });
        for (const asker of [billing, reports])
          expect((await introspected({ token: forgery }, asker)).text).toBe(INACTIVE);
        expect((await ada.as(forgery).get('/api/me')).status).toBe(401);
      }
      for (const change of [{ aud: 'accounts' }, { client_id: 'accounts' }, { client_id: reports.name }])
        expect((await introspected({ token: boundClaims(bound, change) })).text).toBe(INACTIVE);
    });

    it('notices that the sessions of the service were ended, and enabling revives none', async () => {
      const shop = await aServiceCaller(service, 'introspect');
      const ask = (token: string) => introspected({ token }, shop);
      const [first, plain] = [await aBoundToken(shop, ada), (await byCode(service, ada)).token];
      await shop.client.endSessions();
      expect((await ask(first)).text).toBe(INACTIVE);
      const second = await aBoundToken(shop, ada);
      expect((await ask(second)).body).toMatchObject({ active: true });
      await shop.client.disable();
      for (const one of instances)
        expect(await shop.at(one).introspect({ token: second })).toMatchObject(invalidClient);
      await shop.client.enable();
      expect((await ask(second)).text).toBe(INACTIVE);
      expect((await ask(plain)).body).toMatchObject({ active: true });
    });

    it('notices that the login ended which issued the code', async () => {
      const token = await aBoundToken(billing, ada);
      expect(await isActive(token)).toBe(true);
      await ada.post('/api/auth/logout');
      expect(await isActive(token)).toBe(false);
    });
  });

  it('is refused to a service from the moment that it is disabled or allowed less', async () => {
    const asker = await aServiceCaller(service, 'introspect');
    const answers = () => Promise.all(instances.map((one) => asker.at(one).introspect({ token: ada.token })));
    const change = (sql: string) =>
      service.db.query(`UPDATE services SET ${sql} WHERE name = ?`, [asker.name]);
    for (const { status } of await answers()) expect(status).toBe(200);
    await change("allow = 'memberships'");
    for (const answer of await answers()) expect(answer).toMatchObject(insufficientScope('introspect'));
    await change("allow = 'introspect', disabled_at = 1");
    for (const answer of await answers()) expect(answer).toMatchObject(invalidClient);
  });
});

interface Page {
  memberships: { orgId: string; userId: string; role: string; orgRevision: number }[];
  nextCursor?: string;
}

const accounting = await aServiceCaller(service, 'memberships');

describe('GET /api/memberships', () => {
  const list = async (query: string) =>
    (await bodyOf(accounting.get<Page>(`/api/memberships?${query}`))).memberships;

  /** The list in pages of this size, and their sizes. */
  async function listInPages(query: string, limit: number): Promise<[Page['memberships'], number[]]> {
    const path = `/api/memberships?${query}&limit=${limit}`;
    const pages = await pagesOf<Page['memberships'][number]>(accounting, path, 'memberships');
    return [pages.flat(), pages.map(({ length }) => length)];
  }

  it('lists the members of an organization in order of joining, with its revision', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const memberships = await list(`orgId=${org.id}`);
    const of = ({ id }: Account, role: string) => ({ orgId: org.id, userId: id, role, orgRevision: 3 });
    expect(memberships).toEqual([of(owner, 'owner'), of(admin, 'admin'), of(member, 'member')]);
    await owner.patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    expect(await list(`orgId=${org.id}`)).toContainEqual({ ...of(member, 'admin'), orgRevision: 4 });
  });

  it('lists the organizations of a user in order of joining', async () => {
    const { org, owner, member } = await anOrg(service);
    const second = await anOrgOf(member, 'Another');
    const third = await anOrgOf(owner, 'A third');
    await join(third, owner, member, 'admin');
    expect(await list(`userId=${member.id}`)).toEqual([
      { orgId: org.id, userId: member.id, role: 'member', orgRevision: 3 },
      { orgId: second.id, userId: member.id, role: 'owner', orgRevision: 1 },
      { orgId: third.id, userId: member.id, role: 'admin', orgRevision: 2 },
    ]);
  });

  it('answers to both ids with one membership, or none', async () => {
    const { org, owner, outsider } = await anOrg(service);
    expect(await list(`orgId=${org.id}&userId=${owner.id}`)).toEqual([
      { orgId: org.id, userId: owner.id, role: 'owner', orgRevision: 3 },
    ]);
    expect(await list(`orgId=${org.id}&userId=${outsider.id}`)).toEqual([]);
    for (const query of [`orgId=${org.id}&userId=`, 'orgId=', 'userId='])
      expect(await list(`${query}${anUnknownId()}`)).toEqual([]);
  });

  it('comes in pages that leave nothing out and repeat nothing, whatever joined within a millisecond', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const another = await anOrgOf(owner);
    await join(another, owner, member, 'member');
    await join(org, owner, outsider, 'member');
    await service.db.query('UPDATE members SET joined_at = 5 WHERE org_id = ?', [org.id]);
    await service.db.query('UPDATE members SET joined_at = 5 WHERE user_id = ?', [member.id]);
    const [ofOrg, sizes] = await listInPages(`orgId=${org.id}`, 1);
    expect(sizes).toEqual([1, 1, 1, 1]);
    expect(ofOrg.map(({ userId }) => userId)).toEqual(
      [owner, admin, member, outsider].map(({ id }) => id).toSorted(),
    );
    const [ofUser, sizesOfUser] = await listInPages(`userId=${member.id}`, 1);
    expect(sizesOfUser).toEqual([1, 1]);
    expect(ofUser.map(({ orgId }) => orgId)).toEqual([org.id, another.id].toSorted());
    expect((await listInPages(`orgId=${org.id}`, 2))[1]).toEqual([2, 2]);
    expect((await listInPages(`orgId=${org.id}&userId=${owner.id}`, 1))[1]).toEqual([1]);
  });

  it('leaves out disabled users and deleted organizations, in full pages', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const deleted = await anOrgOf(member, 'Deleted');
    await member.delete(`/api/orgs/${deleted.id}`);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [admin.id]);
    const [ofOrg, sizes] = await listInPages(`orgId=${org.id}`, 2);
    expect([ofOrg.map(({ userId }) => userId), sizes]).toEqual([[owner.id, member.id], [2]]);
    expect(await list(`userId=${admin.id}`)).toEqual([]);
    expect(await list(`orgId=${org.id}&userId=${admin.id}`)).toEqual([]);
    expect((await list(`userId=${member.id}`)).map(({ orgId }) => orgId)).toEqual([org.id]);
    expect(await list(`orgId=${deleted.id}`)).toEqual([]);
    expect(await list(`orgId=${deleted.id}&userId=${member.id}`)).toEqual([]);
  });

  it.each<[string, string[]]>([
    ['', ['orgId']],
    ['limit=5', ['orgId']],
    ['orgId=', ['orgId']],
    ['userId=', ['userId']],
    ['orgId=1abc', ['orgId']],
    ['orgId=x&userId=y', ['orgId', 'userId']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', ['orgId']],
    ['orgId[]=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', ['orgId']],
    ['orgId=01A1FBF4-7EA2-724E-B0F0-4AD107BA025B', ['orgId']],
    ['orgId=%00', ['orgId']],
    ['org_id=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b', ['orgId']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&limit=0', ['limit']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&limit=1001', ['limit']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&cursor=x', ['cursor']],
    ['orgId=01a1fbf4-7ea2-724e-b0f0-4ad107ba025b&userId=x&limit=x&cursor=', ['userId', 'limit', 'cursor']],
  ])('refuses the query %s', async (query, fields) => {
    expect(await accounting.get(`/api/memberships?${query}`)).toMatchObject(invalidFields(...fields));
  });

  it('is for services that are allowed it', async () => {
    const other = await aServiceCaller(service, 'introspect', 'events');
    const refused = await other.get(`/api/memberships?userId=${anUnknownId()}`);
    expect(refused).toMatchObject(insufficientScope('memberships'));
  });
});
