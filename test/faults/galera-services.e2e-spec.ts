import { afterAll, beforeAll, expect, it } from 'vitest';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { RefusedError } from '../../src/problems/problem.js';
import { ServiceChanges } from '../../src/services/service-changes.js';
import { ServiceSecretsRepository } from '../../src/services/service-secrets.repository.js';
import { report } from './support/figures.js';
import { GaleraCluster } from './support/galera-cluster.js';
import { type NodeServices, servicesAt } from './support/node-services.js';
import { Storage } from './support/storage.js';

const ROUNDS = 60;
const OPERATOR = { kind: 'operator', id: 'test' } as const;

let cluster: GaleraCluster;
let storage: Storage;
let nodes: NodeServices[];

beforeAll(async () => {
  cluster = await GaleraCluster.start({ nodes: 2 });
  storage = await Storage.at(cluster.node(0).port);
  await migrate(parseEnv(storage.installation.env), SCHEMA);
  nodes = await Promise.all(cluster.nodes.map(({ port }) => servicesAt(storage.installation, port)));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await storage.close();
  await cluster.close();
});

const changes = (node: number): ServiceChanges => nodes[node]!.get(ServiceChanges);

/** The change on both nodes at once; returns how many were made, where a rule may refuse the others. */
async function madeOnBoth(change: (on: ServiceChanges) => Promise<unknown>): Promise<number> {
  const results = await Promise.allSettled(nodes.map((_, node) => change(changes(node))));
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as Error] : [],
  );
  expect(failures.filter((failure) => !(failure instanceof RefusedError))).toEqual([]);
  return results.length - failures.length;
}

async function liveSecrets(name: string): Promise<number> {
  await cluster.waitUntilEqual();
  const secrets = await nodes[0]!.get(ServiceSecretsRepository).findOf(name);
  return secrets.filter(({ revokedAt }) => revokedAt === null).length;
}

it('gives a service two live secrets, and revokes one, whatever two nodes do at the same moment', async () => {
  const wrong: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `service-${round}`;
    await changes(round % 2).add(name, [], OPERATOR);
    await cluster.waitUntilEqual();

    const rotated = await madeOnBoth((on) => on.rotate(name, OPERATOR));
    const both = await liveSecrets(name);
    const revoked = await madeOnBoth((on) => on.revokeSecret(name, { endSessions: false }, OPERATOR));
    const left = await liveSecrets(name);
    const removed = await madeOnBoth((on) => on.remove(name, OPERATOR));

    const found = [rotated, both, revoked, left, removed, await liveSecrets(name)].join();
    if (found !== '1,2,1,1,2,0') wrong.push(`${name}: ${found}`);
  }
  expect(wrong).toEqual([]);
  report({ faults: ROUNDS, requests: 6 * ROUNDS, wrong: 0 });
});
