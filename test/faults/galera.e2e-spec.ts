import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { anInstallation } from '../support/installation.js';
import {
  type Account,
  aCode,
  anAccount,
  anEmail,
  anOrgOf,
  aPassword,
  type Org,
} from '../support/personas.js';
import { endFamilyDuringExchanges } from '../support/ending-family.js';
import { survivorsOfReuse } from '../support/stolen-code.js';
import { type Instance, launch } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraService, twoOwners } from './support/galera-service.js';
import { hostsUrl, startInstance, startInstances, stopAll, through } from './support/instance.js';
import { MixedLoad, recovery } from './support/mixed-load.js';
import { requireTruth } from './support/truthful-load.js';
import { waitFor } from '../../tooling/wait.js';

const NO_LIMITS = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOOKUP: 'off' };
const RECOVERY_MS = 6000;

/** Each instance knows its own node only. */
let galera: GaleraService;
/** Knows all three nodes. */
let roaming: Instance;

beforeAll(async () => {
  galera = await GaleraService.start({ ownNode: 2, env: NO_LIMITS });
  const { installation, cluster } = galera;
  const ports = cluster.nodes.map(({ port }) => port);
  roaming = await startInstance(installation, { ...NO_LIMITS, DATABASE_URL: hostsUrl(installation, ports) });
});

afterAll(async () => {
  await roaming.stop();
  await galera.stop();
});

afterEach(async () => {
  await galera.cluster.waitUntilEqual();
  const found = await galera.installation.db.query(
    `SELECT o.id FROM orgs o WHERE NOT EXISTS
      (SELECT 1 FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = o.id AND m.role = 'owner')`,
  );
  if (found.length > 0) throw new Error(`I1: ${found.length} organizations without an owner`);
});

const on = (turn: number): Instance => galera.on(turn);

const tally = (statuses: number[]): string => statuses.toSorted((a, b) => a - b).join(' ');

it('runs its migrations once when three instances start on an empty cluster', async () => {
  const rounds = 4;
  for (let round = 0; round < rounds; round += 1) {
    const fresh = await anInstallation({ mariadbPort: galera.cluster.node(0).port });
    const started = await startInstances(
      fresh,
      galera.cluster.nodes.map(({ port }) => ({ ...NO_LIMITS, ...through(port, fresh) })),
    );
    const applied = await fresh.db.query('SELECT name, COUNT(*) AS times FROM migrations GROUP BY name');
    expect(applied.length).toBeGreaterThan(0);
    expect(applied.filter(({ times: runs }) => Number(runs) !== 1)).toEqual([]);
    for (const instance of started) {
      expect((await instance.anyone.get('/health/ready')).status).toBe(200);
      await anAccount(instance);
    }
    const ran = started.filter(({ logs }) => logs.some((line) => line.includes('migration applied')));
    expect(ran).toHaveLength(1);
    await stopAll(started);
    await fresh.remove();
  }
  report({ faults: rounds, requests: 6 * rounds, wrong: 0 });
});

it('reads on every node what another node has committed', async () => {
  const rounds = 300;
  const owner = await anAccount(on(0));
  let wrong = 0;
  for (let round = 0; round < rounds; round += 1) {
    const created = await owner.at(on(round)).post<{ org: Org }>('/api/orgs', { name: `Round ${round}` });
    const read = await owner.at(on(round + 1)).get(`/api/orgs/${created.body.org.id}`);
    if (created.status !== 201 || read.status !== 200) wrong += 1;
  }
  report({ faults: rounds, requests: 2 * rounds, wrong, acknowledged: rounds, lost: wrong });
  expect(wrong).toBe(0);
});

it('writes on every node to rows that another node has committed', async () => {
  const rounds = 40;
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [owner, other] = await Promise.all([anAccount(on(round)), anAccount(on(round + 1))]);
    const org = await anOrgOf(owner);
    const added = await owner
      .at(on(round + 2))
      .post(`/api/orgs/${org.id}/members`, { email: other.email, role: 'member' });
    const promoted = await owner
      .at(on(round + 1))
      .patch(`/api/orgs/${org.id}/members/${other.id}`, { role: 'admin' });
    const removed = await owner.at(on(round)).delete(`/api/orgs/${org.id}/members/${other.id}`);
    const barred = await other.at(on(round + 2)).get(`/api/orgs/${org.id}`);
    const got = [added, promoted, removed, barred].map(({ status }) => status).join(' ');
    if (got !== '201 200 200 403') wrong.push(got);
  }
  report({ faults: rounds, requests: 7 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('keeps an owner when two owners demote, remove or leave at once on two nodes', async () => {
  const rounds = 120;
  const races: { org: Org; statuses: number[] }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { org, owners } = await twoOwners(galera, round);
    const moves = owners.map((owner, i) => {
      const here = owner.at(on(round + i));
      const other = `/api/orgs/${org.id}/members/${owners[1 - i]!.id}`;
      const own = `/api/orgs/${org.id}/members/${owner.id}`;
      const demotes = (): Promise<{ status: number }> => here.patch(other, { role: 'member' });
      const removes = (): Promise<{ status: number }> => here.delete(other);
      const leaves = (): Promise<{ status: number }> => here.delete(own);
      const stepsDown = (): Promise<{ status: number }> => here.patch(own, { role: 'admin' });
      const kinds = [
        [demotes, demotes],
        [removes, removes],
        [leaves, leaves],
        [stepsDown, leaves],
        [demotes, removes],
        [stepsDown, removes],
      ];
      return kinds[round % kinds.length]![i]!;
    });
    races.push({ org, statuses: (await atOnce(moves)).map(({ status }) => status) });
  }

  await galera.cluster.waitUntilEqual();
  const wrong: string[] = [];
  for (const [round, { org, statuses }] of races.entries()) {
    const found = await galera.installation.db.query(
      "SELECT COUNT(*) AS owners FROM members WHERE org_id = ? AND role = 'owner'",
      [org.id],
    );
    const left = Number(found[0]?.['owners']);
    const known = statuses.every((status) => [200, 403, 404, 409].includes(status));
    if (left !== 1 || !statuses.includes(200) || !known) {
      wrong.push(`round ${round}: ${tally(statuses)}, ${left} owners left`);
    }
  }
  report({ faults: rounds, requests: 2 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('exchanges one code once, for many clients on three nodes', async () => {
  const rounds = 30;
  const clients = 15;
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const code = await aCode(await anAccount(on(round)));
    const answers = await atOnce(
      times(clients, (i) => () => on(i).anyone.post('/api/auth/code/exchange', { code })),
    );
    const statuses = answers.map(({ status }) => status);
    if (tally(statuses) !== tally([200, ...times(clients - 1, () => 400)])) wrong.push(tally(statuses));
  }
  report({ faults: rounds, requests: rounds * clients, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('leaves no session alive that is derived on one node while its code is reused on another', async () => {
  const rounds = 200;
  const [owner, thief] = [on(0), on(1)];
  const account = await anAccount(owner);
  const races = [];
  for (let round = 0; round < rounds; round += 1) {
    races.push(await survivorsOfReuse(account, { owner, thief, checks: [owner, thief] }, round % 4));
  }
  const derived = races.reduce((sum, race) => sum + race.derived, 0);
  const survivors = races.flatMap((race) => race.survivors);
  report({ faults: rounds, requests: 4 * rounds + 4 * derived, wrong: survivors.length });
  expect(survivors).toEqual([]);
  expect(races.filter((race) => race.derived >= 2).length).toBeGreaterThanOrEqual(rounds / 4);
});

it('leaves no session of a family alive that ends while its codes are exchanged, each with one event', async () => {
  const rounds = 10;
  const at = { instances: [on(0), on(1)], db: galera.installation.db };
  const families = [];
  for (let round = 0; round < rounds; round += 1) {
    families.push(await endFamilyDuringExchanges(at, 1 + 4 * round));
  }
  const wrong = families.flatMap((family) => family.wrong);
  report({ faults: rounds, requests: 50 * rounds, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('registers an e-mail once, for many clients on three nodes', async () => {
  const rounds = 15;
  const clients = 15;
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const email = anEmail();
    const passwords = times(clients, () => aPassword());
    const answers = await atOnce(
      passwords.map(
        (password, i) => () =>
          on(i).anyone.post('/api/auth/register', {
            email: i % 2 === 0 ? email : email.toUpperCase(),
            password,
          }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    if (tally(statuses) !== tally([201, ...times(clients - 1, () => 409)])) wrong.push(tally(statuses));
    const logins = await atOnce(
      passwords.map((password, i) => () => on(i + 1).anyone.post('/api/auth/login', { email, password })),
    );
    const winner = statuses.indexOf(201);
    const agreed = logins.every(({ status }, i) => status === (i === winner ? 200 : 401));
    if (!agreed) wrong.push(`logins: ${tally(logins.map(({ status }) => status))}`);
  }
  report({ faults: rounds, requests: 2 * rounds * clients, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('adds a member once, for many callers on three nodes', async () => {
  const rounds = 20;
  const clients = 12;
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [owner, other] = await Promise.all([anAccount(on(round)), anAccount(on(round + 1))]);
    const org = await anOrgOf(owner);
    const answers = await atOnce(
      times(
        clients,
        (i) => () =>
          owner.at(on(i)).post(`/api/orgs/${org.id}/members`, { email: other.email, role: 'member' }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    if (tally(statuses) !== tally([201, ...times(clients - 1, () => 409)])) wrong.push(tally(statuses));
  }
  report({ faults: rounds, requests: rounds * clients, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('creates 200 organizations that one user asks for at once on three nodes', async () => {
  const rounds = 5;
  const count = 200;
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const owner = await anAccount(on(round));
    const answers = await atOnce(
      times(count, (i) => () => owner.at(on(i)).post('/api/orgs', { name: `At once ${i}` })),
    );
    wrong.push(...answers.filter(({ status }) => status !== 201).map(({ text }) => text));
  }
  report({ faults: rounds, requests: rounds * count, wrong: wrong.length });
  expect(wrong).toEqual([]);
});

it('loses no acknowledged write when the active node is killed, and uses the next', async () => {
  const someone = await anAccount(roaming);
  const load = new MixedLoad(someone, await anOrgOf(someone), [roaming, on(1), on(2)]);
  const recoveries: number[] = [];
  await load.during(async () => {
    await sleep(1000);
    await galera.cluster.node(0).kill();
    recoveries.push(await recovery(someone, roaming));
    await sleep(2000);
    await galera.cluster.node(0).restart();
    const begin = performance.now();
    await untilWrittenTo(0, someone);
    recoveries.push(performance.now() - begin);
    await sleep(1000);
  });
  await galera.cluster.waitUntilEqual();
  await requireTruth(load, galera.installation.db, { faults: 1, recoveriesMs: recoveries });
  expect(recoveries[0]).toBeLessThan(RECOVERY_MS);
  await recovery(someone, on(0));
});

it('takes a partitioned node out of rotation, although it still answers, and uses it again once it has rejoined', async () => {
  const someone = await anAccount(roaming);
  const load = new MixedLoad(someone, await anOrgOf(someone), [roaming]);
  const recoveries: number[] = [];
  await load.during(async () => {
    await sleep(500);
    await galera.cluster.isolate(galera.cluster.node(0));
    recoveries.push(await recovery(someone, roaming));
    // The instance that knows no other node says so.
    const { status, body } = await on(0).anyone.get('/health/ready');
    expect([status, body]).toMatchObject([503, { code: 'unavailable' }]);
    const me = await someone.at(on(0)).get('/api/me');
    expect([me.status, me.headers.get('retry-after')]).toEqual([503, '1']);
    await sleep(2000);
    await galera.cluster.heal(galera.cluster.node(0));
    const begin = performance.now();
    await untilWrittenTo(0, someone);
    recoveries.push(performance.now() - begin);
    recoveries.push(await recovery(someone, on(0)));
  });
  await galera.cluster.waitUntilEqual();
  await requireTruth(load, galera.installation.db, { faults: 1, recoveriesMs: recoveries });
  expect(Math.max(...recoveries)).toBeLessThan(RECOVERY_MS);
});

it('loses no acknowledged write when a node freezes', async () => {
  const someone = await anAccount(roaming);
  const load = new MixedLoad(someone, await anOrgOf(someone), [roaming, on(1), on(2)]);
  let recovered = 0;
  await load.during(async () => {
    await sleep(500);
    await galera.cluster.node(0).freeze();
    recovered = await recovery(someone, roaming);
    await sleep(3000);
    galera.cluster.node(0).thaw();
    await galera.cluster.waitForSize(3);
    await untilWrittenTo(0, someone);
  });
  await galera.cluster.waitUntilEqual();
  await requireTruth(load, galera.installation.db, { faults: 1, recoveriesMs: [recovered] });
  expect(recovered).toBeLessThan(2 * RECOVERY_MS);
});

it.each([
  ['its node is cut off from the cluster', isolated],
  ['the cluster waits for nodes that do not answer', frozen],
])('waits with its start while %s', async (_what, strike) => {
  const { installation, cluster } = galera;
  const heal = await strike();
  const starting = launch(installation, { ...NO_LIMITS, ...through(cluster.node(0).port, installation) });
  const begin = performance.now();

  const waits = (): Promise<boolean> =>
    Promise.resolve(starting.logs.join().includes('waiting for the database'));
  await Promise.race([waitFor('the instance waits', 20_000, waits), starting.listening]);
  await heal();
  const started = await starting.listening;
  const recoveryMs = performance.now() - begin;

  expect((await started.anyone.get('/health/ready')).status).toBe(200);
  await started.stop();
  report({ faults: 1, requests: 1, wrong: 0, recoveriesMs: [recoveryMs] });
});

it('starts on another node while the first one is cut off from the cluster', async () => {
  const { installation, cluster } = galera;
  const ports = cluster.nodes.map(({ port }) => port);
  const heal = await isolated();

  const started = await startInstance(installation, { DATABASE_URL: hostsUrl(installation, ports) });
  const { status } = await started.anyone.get('/health/ready');
  await started.stop();
  await heal();

  expect(status).toBe(200);
  report({ faults: 1, requests: 1, wrong: 0 });
});

async function isolated(): Promise<() => Promise<void>> {
  const node = galera.cluster.node(0);
  await galera.cluster.isolate(node);
  return () => galera.cluster.heal(node);
}

async function frozen(): Promise<() => Promise<void>> {
  const others = [galera.cluster.node(1), galera.cluster.node(2)];
  await Promise.all(others.map((node) => node.freeze()));
  return async () => {
    for (const node of others) node.thaw();
    await galera.cluster.waitForSize(3);
  };
}

/** Until the instance that knows all nodes sends its statements to that one again. */
function untilWrittenTo(node: number, someone: Account): Promise<unknown> {
  return waitFor(`node ${node} is used`, 10_000, async () => {
    const before = await writesOf(node);
    await atOnce(times(10, () => () => someone.at(roaming).post('/api/orgs', { name: 'Where am I' })));
    return (await writesOf(node)) - before >= 10;
  });
}

/** Transactions that were written on that node, and not only copied to it. */
async function writesOf(node: number): Promise<number> {
  return Number((await galera.cluster.node(node).status()).get('wsrep_replicated'));
}
