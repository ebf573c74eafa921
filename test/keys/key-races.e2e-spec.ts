import { expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { roundsOfARace } from '../support/engine.js';
import { tooManyKeys } from '../support/expected.js';
import { insertKeys, keysPath, makeKey, OWN_KEYS } from '../support/org-keys.js';
import { changeRole, removeMember } from '../support/org-members.js';
import { type Account, anAccount, anOrg, anOrgOf, join, type Org } from '../support/personas.js';
import { startSharedCluster } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';

const ROUNDS = roundsOfARace(20);
const CLIENTS = 60;

const cluster = await startSharedCluster();
const { db } = cluster;
const at = (index: number) => cluster.instances[index % cluster.instances.length]!;
const billing = await aServiceCaller(at(0), 'keys');

const countOf = async (column: string, id: string): Promise<number> =>
  Number((await db.query(`SELECT COUNT(*) AS found FROM api_keys WHERE ${column} = ?`, [id]))[0]!['found']);
const eventsOf = async (keyId: string): Promise<string[]> => {
  const sql = "SELECT type FROM events WHERE type LIKE 'key.%' AND data LIKE ? ORDER BY id";
  return (await db.query(sql, [`%${keyId}%`])).map(({ type }) => String(type));
};

it.each<[of: string, prepare: () => Promise<{ path: string; makers: Account[]; left: number }>]>([
  [
    'a user: exactly 50 are made',
    async () => ({ path: OWN_KEYS, makers: [await anAccount(at(0))], left: 50 }),
  ],
  [
    'an organization: exactly 100 are there',
    async () => {
      const { org, owner, admin } = await anOrg(at(0));
      await insertKeys(db, 85, { user: owner, audience: billing, orgId: org.id });
      return { path: keysPath(org), makers: [owner, admin], left: 15 };
    },
  ],
])(`${CLIENTS} creations at once of %s`, async (_, prepare) => {
  const { path, makers, left } = await prepare();
  const answers = await atOnce(
    times(CLIENTS, (client) => () => makeKey(makers[client % makers.length]!.at(at(client)), path, billing)),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  for (const answer of refused) expect(answer).toMatchObject(tooManyKeys);
  expect(CLIENTS - refused.length).toBe(left);
  const { apiKeys } = (await makers[0]!.get<{ apiKeys: object[] }>(path)).body;
  expect(apiKeys).toHaveLength(path === OWN_KEYS ? 50 : 100);
});

type End = (owner: Account, org: Org, maker: Account) => Promise<Answer>;

it.each<[how: string, end: End, afterwards: number[]]>([
  ['is removed', (owner, org, maker) => removeMember(owner, org, maker), [403]],
  ['is demoted', (owner, org, maker) => changeRole(owner, org, maker, 'member'), [403]],
  [
    'deletes the account',
    (_, _org, maker) => maker.delete('/api/me', { password: maker.password }),
    [401, 403],
  ],
])('a key is made before its maker %s, or not at all', async (_, end, refusals) => {
  const owner = await anAccount(at(0));
  const org = await anOrgOf(owner);
  for (let round = 0; round < ROUNDS; round += 1) {
    const maker = await anAccount(at(round));
    await join(org, owner, maker, 'admin');
    const [made, own, ended] = await atOnce<Answer>([
      () => makeKey(maker.at(at(round)), keysPath(org), billing),
      () => makeKey(maker.at(at(round + 1)), OWN_KEYS, billing),
      () => end(owner.at(at(round + 2)), org, maker.at(at(round + 2))),
    ]);
    expect(ended!.status, ended!.text).toBe(200);
    expect([201, ...refusals], made!.text).toContain(made!.status);
    expect([201, ...refusals], own!.text).toContain(own!.status);
    const isGone = (await db.query('SELECT id FROM users WHERE id = ?', [maker.id])).length === 0;
    const kept = isGone ? 0 : [made!, own!].filter(({ status }) => status === 201).length;
    expect(await countOf('user_id', maker.id)).toBe(kept);
    if (made!.status !== 201) continue;
    const order = await db.query(
      `SELECT type FROM events WHERE org_id = ? AND user_id = ? AND type IN
        ('key.created', 'member.removed', 'member.role_changed') ORDER BY org_revision`,
      [org.id, maker.id],
    );
    expect(order[0]).toEqual({ type: 'key.created' });
  }
});

it.each(['own', 'organization'])('a key (%s) is revoked once, by a request or a report', async (whose) => {
  const owner = await anAccount(at(0));
  const path = whose === 'own' ? OWN_KEYS : keysPath(await anOrgOf(owner));
  for (let round = 0; round < ROUNDS; round += 1) {
    const { apiKey, key } = (await makeKey(owner, path, billing)).body;
    const answers = await atOnce<Answer>([
      () => owner.at(at(round)).delete(`${path}/${apiKey.id}`),
      () => at(round + 1).anyone.post('/api/keys/revoke', { key }),
      () => at(round + 2).anyone.post('/api/keys/revoke', { key }),
    ]);
    const [revoked, ...reports] = answers;
    expect(reports.map(({ status, text }) => [status, text])).toEqual(times(2, () => [200, '{"ok":true}']));
    expect([200, 404]).toContain(revoked!.status);
    expect(await countOf('id', apiKey.id)).toBe(0);
    expect(await eventsOf(apiKey.id)).toEqual(['key.created', 'key.revoked']);
  }
});
