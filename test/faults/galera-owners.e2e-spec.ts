import { afterAll, beforeAll, expect, it } from 'vitest';
import { UserDisabling } from '../../src/accounts/user-disabling.js';
import { OnlyOwnerError, OwnerDisabledError } from '../../src/orgs/state/orgs.errors.js';
import { MembersService } from '../../src/orgs/members/members.service.js';
import { atOnce } from '../support/at-once.js';
import { type Account, anAccount, anOrgOf, type Org } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraCluster } from './support/galera-cluster.js';
import { startInstance } from './support/instance.js';
import { type NodeServices, servicesAt } from './support/node-services.js';
import { Storage } from './support/storage.js';

const ROUNDS = 60;
const OPERATOR = { kind: 'operator', id: 'test' } as const;

let cluster: GaleraCluster;
let storage: Storage;
let service: Instance;
let nodes: NodeServices[];

beforeAll(async () => {
  cluster = await GaleraCluster.start({ nodes: 2 });
  storage = await Storage.at(cluster.node(0).port);
  service = await startInstance(storage.installation, { RATE_LIMIT_REGISTER: 'off' });
  nodes = await Promise.all(cluster.nodes.map(({ port }) => servicesAt(storage.installation, port)));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await service.stop();
  await storage.close();
  await cluster.close();
});

const on = (i: number): NodeServices => nodes[i % nodes.length]!;

type Outcome = 'done' | 'not done' | 'refused';

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    return (await work) ? 'done' : 'not done';
  } catch (error) {
    if (error instanceof OnlyOwnerError || error instanceof OwnerDisabledError) return 'refused';
    throw error;
  }
}

function disable(user: Account, i: number, force = false): Promise<Outcome> {
  return outcomeOf(on(i).get(UserDisabling).disable(user.id, { actor: OPERATOR, force }));
}

function makeOwner(user: Account, org: Org, i: number): Promise<Outcome> {
  const owner = { orgId: org.id, userId: user.id, actor: OPERATOR, force: true };
  return outcomeOf(on(i).get(MembersService).makeOwner(owner));
}

async function anOrgWithoutOwner(i: number): Promise<Org> {
  const owner = await anAccount(service);
  const org = await anOrgOf(owner);
  expect(await disable(owner, i, true)).toBe('done');
  return org;
}

async function enabledOwners(org: Org): Promise<number> {
  const [row] = await storage.query(
    `SELECT COUNT(*) AS owners FROM members m JOIN users u ON u.id = m.user_id
      WHERE m.org_id = '${org.id}' AND m.role = 'owner' AND u.disabled_at IS NULL`,
  );
  return Number(row!['owners']);
}

it('makes no owner of a stranger whom another node disables at the same moment', async () => {
  const wrong: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const org = await anOrgWithoutOwner(round);
    const stranger = await anAccount(service);
    await cluster.waitUntilEqual();
    const [made, disabled] = await atOnce([
      () => makeOwner(stranger, org, round),
      () => disable(stranger, round + 1),
    ]);
    await cluster.waitUntilEqual();
    const outcome = `${made}, ${disabled}, ${await enabledOwners(org)} enabled`;
    const inOneOrder = ['done, refused, 1 enabled', 'refused, done, 0 enabled'];
    if (!inOneOrder.includes(outcome)) wrong.push(`${round}: ${outcome}`);
  }
  report({ faults: ROUNDS, requests: 2 * ROUNDS, wrong: wrong.length });
  expect(wrong).toEqual([]);
});
