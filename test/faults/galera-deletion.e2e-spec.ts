import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { UserDeletion } from '../../src/accounts/user-deletion.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed } from '../support/refreshing.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraCluster } from './support/galera-cluster.js';
import { startInstance } from './support/instance.js';
import { type NodeServices, servicesAt } from './support/node-services.js';
import { Storage } from './support/storage.js';

let cluster: GaleraCluster;
let storage: Storage;
/** At one node; the deletion is at the other. */
let service: Instance;
let node: NodeServices;

beforeAll(async () => {
  cluster = await GaleraCluster.start({ nodes: 2 });
  storage = await Storage.at(cluster.node(0).port);
  service = await startInstance(storage.installation);
  node = await servicesAt(storage.installation, cluster.node(1).port);
});
afterAll(async () => {
  await node.close();
  await service.stop();
  await storage.close();
  await cluster.close();
});

it('a client that refreshes during every attempt on another node does not prevent the deletion of its account', async () => {
  const user = await anAccount(service);
  const other = await anAccount(service);
  const org = await anOrgOf(other);
  const body = { email: user.email, role: 'member' };
  expect((await other.post(`/api/orgs/${org.id}/members`, body)).status).toBe(201);
  let { refreshToken } = await aRefreshableLogin(service, user);
  await cluster.waitUntilEqual();
  const events = node.get(EventsRepository, { strict: false });
  const record = events.record.bind(events);
  // In the middle of the transaction.
  const attempts = vi.spyOn(events, 'record').mockImplementation(async (...recorded) => {
    ({ refreshToken } = await refreshed(service, refreshToken));
    await cluster.waitUntilEqual();
    await record(...recorded);
  });

  const deletion = { actor: { kind: 'operator', id: 'test' }, force: false } as const;
  expect(await node.get(UserDeletion).delete(user.id, deletion)).toEqual([]);

  expect(attempts).toHaveBeenCalledTimes(1);
  await cluster.waitUntilEqual();
  expect((await refresh(service, refreshToken)).status).toBe(401);
  for (const table of ['sessions', 'members']) {
    expect(await storage.query(`SELECT * FROM ${table} WHERE user_id = '${user.id}'`)).toEqual([]);
  }
  report({ faults: 1, requests: attempts.mock.calls.length, wrong: 0 });
});
