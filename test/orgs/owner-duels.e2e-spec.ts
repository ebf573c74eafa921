import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce } from '../support/at-once.js';
import { type Account, anAccount, anOrgOf, join, type Org } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';

type Move = (who: Account, other: Account, org: string) => Promise<Answer>;

/** Every way for an owner to go, or to have the other one go. */
const MOVES: Record<string, Move> = {
  demotes: (who, other, org) => who.patch(`${org}/members/${other.id}`, { role: 'member' }),
  removes: (who, other, org) => who.delete(`${org}/members/${other.id}`),
  'steps down': (who, _, org) => who.patch(`${org}/members/${who.id}`, { role: 'admin' }),
  leaves: (who, _, org) => who.post(`${org}/leave`),
  'hands over': (who, other, org) => who.post(`${org}/transfer`, { userId: other.id }),
  'hands over and leaves': (who, other, org) =>
    who.post(`${org}/transfer`, { userId: other.id, leave: true }),
  'deletes the account': (who) => who.delete('/api/me', { password: who.password }),
};
const NAMES = Object.keys(MOVES);
const PAIRS = NAMES.flatMap((one, place) => NAMES.slice(place).map((other) => [one, other] as const));
const ROUNDS = 3;

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('two owners at once', () => {
  async function twoOwners(): Promise<{ org: Org; owners: [Account, Account] }> {
    const [first, last] = [cluster.instances[0]!, cluster.instances.at(-1)!];
    const [alice, bob] = await Promise.all([anAccount(first), anAccount(last)]);
    const org = await anOrgOf(alice);
    await join(org, alice, bob, 'owner');
    return { org, owners: [alice, bob] };
  }

  it.each(PAIRS)('one %s, one %s: an owner stays', async (one, other) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { org, owners } = await twoOwners();
      const [alice, bob] = round % 2 ? owners : owners.toReversed();
      const path = `/api/orgs/${org.id}`;

      const answers = await atOnce([
        () => MOVES[one]!(alice!, bob!, path),
        () => MOVES[other]!(bob!, alice!, path),
      ]);

      const statuses = answers.map(({ status }) => status);
      expect(statuses).toContain(200);
      // 401: a change by somebody whose account was deleted meanwhile.
      for (const status of statuses) expect([200, 401, 403, 404, 409]).toContain(status);
      const left = await cluster.db.query(
        `SELECT m.user_id FROM members m JOIN users u ON u.id = m.user_id
          WHERE m.org_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL`,
        [org.id],
      );
      expect(left.length, statuses.join()).toBeGreaterThan(0);
    }
  });

  it('a deletion and anything else leave it whole, or deleted for good', async () => {
    const outsider = await anAccount(cluster.instances[0]!);
    for (const name of [...NAMES.slice(0, 6), 'adds', 'deletes', 'restores']) {
      const {
        org,
        owners: [alice, bob],
      } = await twoOwners();
      const path = `/api/orgs/${org.id}`;
      const more: Record<string, Move> = {
        ...MOVES,
        adds: (who) => who.post(`${path}/members`, { email: outsider.email, role: 'member' }),
        deletes: (who) => who.delete(path),
        restores: (who) => who.post(`${path}/restore`),
      };

      const [deletion, answer] = await atOnce([
        () => alice.delete(path),
        () => more[name]!(bob, alice, path),
      ]);

      expect([200, 403, 404], name).toContain(deletion!.status);
      expect([200, 201, 403, 404, 409], name).toContain(answer!.status);
      const [row] = await cluster.db.query('SELECT deleted_at FROM orgs WHERE id = ?', [org.id]);
      const wasRestored = name === 'restores' && answer!.status === 200;
      const isDeleted =
        !wasRestored && (deletion!.status === 200 || (name === 'deletes' && answer!.status === 200));
      expect(row!['deleted_at'] !== null, name).toBe(isDeleted);
      const events = await cluster.db.query(
        'SELECT org_revision FROM events WHERE org_id = ? GROUP BY org_revision HAVING COUNT(DISTINCT at) > 1',
        [org.id],
      );
      expect(events, name).toEqual([]);
    }
  });
});
