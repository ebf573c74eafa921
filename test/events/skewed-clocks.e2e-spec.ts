import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aheadBy } from '../support/clock.js';
import { engine } from '../support/engine.js';
import { type Account, anOrgWithTwoOwners } from '../support/personas.js';
import { type Cluster, startCluster } from '../support/service.js';

const CHANGES = 200;
const TEN_MINUTES_MS = 600_000;

describe.runIf(engine === 'mariadb')('the record of two instances whose clocks differ', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster(2, { envs: [{}, { NODE_OPTIONS: aheadBy(TEN_MINUTES_MS) }] });
  });
  afterAll(() => cluster.stop());

  it('is in the order in which the organization changed', async () => {
    const [here, there] = cluster.instances;
    const { org, owner, coOwner, member } = await anOrgWithTwoOwners(here!);
    const path = `/api/orgs/${org.id}`;
    const expected: string[] = [];
    for (let change = 0; change < CHANGES; change += 1) {
      const by: Account = change % 2 === 0 ? owner : coOwner.at(there!);
      const role = change % 2 === 0 ? 'admin' : 'member';
      const { status, text } = await by.patch(`${path}/members/${member.id}`, { role });
      expect(status, text).toBe(200);
      expected.push(role);
    }
    const { body } = await owner.get<{ events: { at: string; data: { to: string }; orgRevision: number }[] }>(
      `${path}/events?type=member.role_changed&userId=${member.id}&limit=1000`,
    );
    const inOrder = body.events.toReversed();
    expect(inOrder.map(({ data }) => data.to)).toEqual(expected);
    // Or the clocks were one, and the test would hold by them.
    const times = inOrder.map(({ at }) => Date.parse(at));
    expect(times[1]! - times[0]!).toBeGreaterThan(500_000);
    expect(times[2]! - times[1]!).toBeLessThan(-500_000);
  });
});
