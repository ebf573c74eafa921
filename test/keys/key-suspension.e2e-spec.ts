import { beforeAll, describe, expect, it } from 'vitest';
import { anApiKey, type ApiKey, insertApiKey } from '../support/api-keys.js';
import { anOperator } from '../support/operators.js';
import { addMember, changeRole, removeMember } from '../support/org-members.js';
import { type Account, anAccount, anOrgOf, join, type Org } from '../support/personas.js';
import { enrol, protect, unprotect } from '../support/second-factor.js';
import { aCallToken, aServiceCaller, type ServiceCaller, setCall } from '../support/services.js';
import { startSharedCluster } from '../support/service.js';

const { instances, db } = await startSharedCluster();
const service = instances[0]!;

interface Stage {
  owner: Account;
  user: Account;
  org: Org;
  billing: ServiceCaller;
  ledger: ServiceCaller;
  /** what each of the tokens is worth to its audience */
  held: Record<string, { at: ServiceCaller; token: string }>;
  keys: Record<'own' | 'org', ApiKey>;
}

/** An admin with a key of their own and one of the organization, and the tokens that a service got for them. */
async function aStage(): Promise<Stage> {
  const [owner, user] = [await anAccount(service, 'owner'), await anAccount(service, 'user')];
  const org = await anOrgOf(owner);
  await join(org, owner, user, 'admin');
  const [billing, ledger] = [
    await aServiceCaller(service, 'introspect', 'keys'),
    await aServiceCaller(service, 'introspect', 'keys'),
  ];
  await setCall(db, billing, ledger);
  const keys = {
    own: await anApiKey(user, billing, 'owner'),
    org: await insertApiKey(service, user, billing, { role: 'owner', orgId: org.id }),
  };
  const held = {
    'own key': { at: billing, token: keys.own.key },
    'key of the organization': { at: billing, token: keys.org.key },
    'token of the own key': { at: ledger, token: await aCallToken(billing, ledger, keys.own.key) },
    'token of the key of the organization': {
      at: ledger,
      token: await aCallToken(billing, ledger, keys.org.key),
    },
  };
  return { owner, user, org, billing, ledger, held, keys };
}

interface Introspected {
  active: boolean;
  org?: { role: string } | null;
}

/** The role in the organization as each instance sees it, or that it sees none. */
async function rights({ held, org }: Stage): Promise<Record<string, string>> {
  const all = await Promise.all(
    Object.entries(held).map(async ([name, { at, token }]) => {
      const answers = await Promise.all(
        instances.map((instance) => at.at(instance).introspect<Introspected>({ token, orgId: org.id })),
      );
      const seen = answers.map(({ body }) => (body.active ? (body.org?.role ?? 'no role') : 'inactive'));
      expect(new Set(seen).size, `${name}: ${seen.join()}`).toBe(1);
      return [name, seen[0]!] as const;
    }),
  );
  return Object.fromEntries(all);
}

const seen = (own: string, ofOrg: string): Record<string, string> => ({
  'own key': own,
  'key of the organization': ofOrg,
  'token of the own key': own,
  'token of the key of the organization': ofOrg,
});

let operator: Account;
beforeAll(async () => {
  operator = await anOperator(service);
});

type Step = (stage: Stage) => Promise<unknown>;
const REASON = { reason: 'a test' };

const setScopes =
  (of: 'billing' | 'ledger', allow: string): Step =>
  async (stage) =>
    db.query('UPDATE services SET allow = ? WHERE name = ?', [allow, stage[of].name]);
const byOperator =
  (verb: string, body: object = {}): Step =>
  async ({ user }) =>
    expect(
      (await operator.post(`/api/operators/users/${user.id}/${verb}`, { ...REASON, ...body })).status,
    ).toBe(200);
const ok = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
  const { status, text } = await answer;
  expect([200, 201], text).toContain(status);
};

const AS_BEFORE = seen('admin', 'admin');

const SUSPENSIONS: [what: string, end: Step, meanwhile: Record<string, string>, opposite: Step][] = [
  [
    'is removed, and added again',
    ({ owner, org, user }) => ok(removeMember(owner, org, user)),
    seen('no role', 'inactive'),
    ({ owner, org, user }) => ok(addMember(owner, org, user, 'admin')),
  ],
  [
    'leaves, and joins again',
    ({ org, user }) => ok(user.post(`/api/orgs/${org.id}/leave`)),
    seen('no role', 'inactive'),
    ({ owner, org, user }) => ok(addMember(owner, org, user, 'admin')),
  ],
  [
    'is demoted, and promoted',
    ({ owner, org, user }) => ok(changeRole(owner, org, user, 'member')),
    seen('member', 'member'),
    ({ owner, org, user }) => ok(changeRole(owner, org, user, 'admin')),
  ],
  ['is disabled, and enabled', byOperator('disable'), seen('inactive', 'inactive'), byOperator('enable')],
  [
    'lacks the second factor that the organization requires, and enrolls it',
    async ({ owner, org }) => {
      await protect(service, owner);
      await ok(owner.patch(`/api/orgs/${org.id}`, { secondFactorRequiredFrom: new Date().toISOString() }));
    },
    seen('no role', 'inactive'),
    ({ user }) => enrol(user),
  ],
  [
    'loses the second factor, and enrolls it again',
    async ({ owner, user, org }) => {
      for (const who of [owner, user]) await protect(service, who);
      await ok(owner.patch(`/api/orgs/${org.id}`, { secondFactorRequiredFrom: new Date().toISOString() }));
      await unprotect(service, user);
    },
    seen('no role', 'inactive'),
    ({ user }) => enrol(user),
  ],
  [
    'is in an organization that is deleted, and restored',
    ({ owner, org }) => ok(owner.delete(`/api/orgs/${org.id}`)),
    seen('no role', 'inactive'),
    ({ org }) => ok(operator.post(`/api/operators/orgs/${org.id}/restore`, REASON)),
  ],
  [
    'uses a service that loses its scope, and gets it back',
    setScopes('billing', 'introspect'),
    seen('inactive', 'inactive'),
    setScopes('billing', 'introspect,keys'),
  ],
];

describe('a key follows its user, who', () => {
  it.each(SUSPENSIONS)('%s', async (_what, end, meanwhile, opposite) => {
    const stage = await aStage();
    expect(await rights(stage)).toEqual(AS_BEFORE);
    const rows = () => db.query('SELECT * FROM api_keys WHERE user_id = ? ORDER BY id', [stage.user.id]);
    const before = await rows();
    await end(stage);
    expect(await rights(stage)).toEqual(meanwhile);
    await opposite(stage);
    expect(await rights(stage)).toEqual(AS_BEFORE);
    const unused = (row: object) => ({ ...row, last_used_at: null });
    expect((await rows()).map(unused), 'no statement changed the keys').toEqual(before.map(unused));
    const sql = "SELECT type FROM events WHERE user_id = ? AND type LIKE 'key.%'";
    expect(await db.query(sql, [stage.user.id])).toEqual([{ type: 'key.created' }]);
  });
});
