import { describe, expect, it } from 'vitest';
import { type ApiKey, insertApiKey } from '../support/api-keys.js';
import { type Account, anAccount, anOrgOf, join, type Role, ROLES } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { aCallToken, aServiceCaller, setCall } from '../support/services.js';
import { startService } from '../support/service.js';

/** What the key's organization requires of its members, and whether the user has it. */
const FACTORS = ['not required', 'required and there', 'required and missing'] as const;
const OWNERS = ['user', 'organization'] as const;
const PLACES = ['this', 'another', 'no'] as const;

interface Case {
  /** of the user in the organization; null for a user who is not a member */
  member: Role | null;
  factor: (typeof FACTORS)[number];
  /** whose key it is */
  of: (typeof OWNERS)[number];
  role: Role;
  /** organization that the service asks about */
  asked: (typeof PLACES)[number];
}

/** of the user in the other organization, which requires nothing */
const ELSEWHERE: Role = 'admin';

/** The role in the answer: null for none, undefined if no organization was asked about. */
type Rights = Role | null | undefined | 'inactive';

function rightsOf({ member, factor, of, role, asked }: Case): Rights {
  const here = factor === 'required and missing' ? null : member;
  if (of === 'organization' && here === null) return 'inactive';
  if (asked === 'no') return undefined;
  if (asked === 'another') return of === 'organization' ? null : lower(ELSEWHERE, role);
  return here === null ? null : lower(here, role);
}

function lower(one: Role, other: Role): Role {
  return ROLES[Math.min(ROLES.indexOf(one), ROLES.indexOf(other))]!;
}

const CASES: (Case & { rights: string })[] = ([null, ...ROLES] as const).flatMap((member) =>
  FACTORS.flatMap((factor) =>
    OWNERS.flatMap((of) =>
      ROLES.flatMap((role) =>
        PLACES.map((asked) => {
          const one = { member, factor, of, role, asked };
          return Object.assign(one, { rights: String(rightsOf(one)) });
        }),
      ),
    ),
  ),
);

const service = await startService();
const { db } = service;
const billing = await aServiceCaller(service, 'introspect', 'keys');
const ledger = await aServiceCaller(service, 'introspect', 'keys');
await setCall(db, billing, ledger);

interface User {
  user: Account;
  places: Record<Case['asked'], string | undefined>;
  keys: Map<string, ApiKey>;
}

const users = new Map<string, Promise<User>>();

/** One user for each role and requirement, with every key. */
function userOf({ member, factor }: Case): Promise<User> {
  const name = `${member} ${factor}`;
  const known = users.get(name) ?? aUser(member, factor);
  users.set(name, known);
  return known;
}

async function aUser(member: Case['member'], factor: Case['factor']): Promise<User> {
  const [owner, user] = [await anAccount(service, 'owner'), await anAccount(service, 'user')];
  const [here, there] = [await anOrgOf(owner, 'This'), await anOrgOf(owner, 'Another')];
  if (member !== null) await join(here, owner, user, member);
  await join(there, owner, user, ELSEWHERE);
  if (factor !== 'not required')
    await db.query('UPDATE orgs SET second_factor_from = 1 WHERE id = ?', [here.id]);
  if (factor === 'required and there') await protect(service, user);
  const keys = new Map<string, ApiKey>();
  for (const of of OWNERS)
    for (const role of ROLES) {
      const orgId = of === 'user' ? null : here.id;
      keys.set(`${of} ${role}`, await insertApiKey(service, user, billing, { role, orgId }));
    }
  return { user, places: { this: here.id, another: there.id, no: undefined }, keys };
}

interface Introspected {
  active: boolean;
  sub?: string;
  org?: { id: string; role: Role } | null;
  key?: object;
}

function shownRights({ active, org }: Introspected): string {
  if (!active) return 'inactive';
  return String(org === null ? null : org?.role);
}

describe('a key has the rights of its user, limited by its role and organization', () => {
  it.each(CASES)(
    'user: $member, factor: $factor, key: $role of the $of, asked about $asked organization: $rights',
    async (one) => {
      const { user, places, keys } = await userOf(one);
      const orgId = places[one.asked];
      const key = keys.get(`${one.of} ${one.role}`)!;
      const asked = { token: key.key, ...(orgId !== undefined && { orgId }) };
      const { body, text } = await billing.introspect<Introspected>(asked);
      expect(shownRights(body), text).toBe(one.rights);
      const shown = { sub: user.id, key: { id: key.id, role: one.role, org: key.orgId } };
      expect(body).toMatchObject(body.active ? shown : { active: false });
      expect([orgId, undefined]).toContain(body.org?.id);
      if (!body.active) return;
      const handedOn = await aCallToken(billing, ledger, key.key);
      const there = await ledger.introspect<Introspected>({ ...asked, token: handedOn });
      expect([there.body.org, there.body.key]).toEqual([body.org, body.key]);
    },
  );

  it('which two services see alike, with exactly the members that say so', async () => {
    const { user, keys } = await userOf({ member: 'admin', factor: 'not required' } as Case);
    const { id, key, orgId: org } = keys.get('organization owner')!;
    const [row] = await db.query('SELECT created_at AS made, expires_at AS ends FROM api_keys WHERE id = ?', [
      id,
    ]);
    const [iat, exp] = [row!['made'], row!['ends']].map((time) => Math.floor(Number(time) / 1000));
    const { name } = billing;
    const answer = await billing.introspect({ token: key });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const known = { iss: 'accounts', sub: user.id, username: user.email, email_verified: false };
    const shown = { active: true, token_type: 'Bearer', ...known, key: { id, role: 'owner', org } };
    expect(answer.body).toEqual({ ...shown, aud: name, client_id: name, iat, exp });

    const token = await aCallToken(billing, ledger, key);
    expect((await ledger.introspect({ token })).body).toEqual({
      ...shown,
      aud: ledger.name,
      client_id: name,
      act: { sub: `service:${name}` },
      via_epoch: 0,
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });
});
