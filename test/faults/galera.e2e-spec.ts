import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { waitFor } from '../../tooling/wait.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { endFamilyDuringExchanges } from '../support/ending-family.js';
import { type Account, aCode, anAccount, anEmail, anOrgOf, aPassword } from '../support/personas.js';
import { type Instance, launch } from '../support/service.js';
import { survivorsOfReuse } from '../support/stolen-code.js';
import { closeAfterAll, countOf, hostsUrl, startInstance, UNLIMITED } from './support/deployment.js';
import { expectRounds, report } from './support/figures.js';
import { GaleraService, twoOwners } from './support/galera-service.js';
import { loadBeside, type MixedLoad, recovery } from './support/mixed-load.js';

const RECOVERY_MS = 6000;

/** Each instance knows its own node only. */
const galera = await closeAfterAll(GaleraService.start({ ownNode: 2, env: UNLIMITED }));
const { cluster, db, installation } = galera;
const on = (turn: number): Instance => galera.on(turn);
const allNodes = hostsUrl(
  installation,
  cluster.nodes.map(({ port }) => port),
);
/** Knows all three nodes. */
const roaming = await closeAfterAll(startInstance(installation, { ...UNLIMITED, DATABASE_URL: allNodes }));

afterEach(async () => {
  await galera.settle();
  const found = await countOf(
    db,
    `orgs o WHERE NOT EXISTS
      (SELECT 1 FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = o.id AND m.role = 'owner')`,
  );
  if (found > 0) throw new Error(`I1: ${found} organizations without an owner`);
});

const statusesOf = (answers: { status: number }[]): number[] => answers.map(({ status }) => status);
const tally = (statuses: number[]): string => statuses.toSorted((a, b) => a - b).join(' ');

it('runs its migrations once when three instances start on an empty cluster', async () => {
  const rounds = 4;
  for (let round = 0; round < rounds; round += 1) {
    const fresh = await galera.startFresh(UNLIMITED);
    const applied = await fresh.db.query('SELECT name, COUNT(*) AS times FROM migrations GROUP BY name');
    expect(applied.length).toBeGreaterThan(0);
    expect(applied.filter(({ times: runs }) => Number(runs) !== 1)).toEqual([]);
    for (const instance of fresh.instances) {
      expect((await instance.anyone.get('/health/ready')).status).toBe(200);
      await anAccount(instance);
    }
    const ran = fresh.instances.filter(({ logs }) => logs.some((line) => line.includes('migration applied')));
    expect(ran).toHaveLength(1);
    await fresh.stop();
  }
  report({ faults: rounds, requests: 6 * rounds, wrong: 0 });
});

type Move = (who: Account, other: Account, org: string) => Promise<Answer>;

const MOVES: Move[] = [
  (who, other, org) => who.patch(`${org}/members/${other.id}`, { role: 'member' }),
  (who, other, org) => who.delete(`${org}/members/${other.id}`),
  (who, _, org) => who.patch(`${org}/members/${who.id}`, { role: 'admin' }),
  (who, _, org) => who.delete(`${org}/members/${who.id}`),
  (who, _, org) => who.post(`${org}/leave`),
  (who, other, org) => who.post(`${org}/transfer`, { userId: other.id }),
  (who, other, org) => who.post(`${org}/transfer`, { userId: other.id, leave: true }),
  (who) => who.delete('/api/me', { password: who.password }),
];

it('keeps an enabled owner, whatever two owners do at once on two nodes', async () => {
  const pairs = MOVES.flatMap((one, place) => MOVES.slice(place).map((other) => [one, other] as const));
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const { org, owners } = await twoOwners(on, round);
    const moves = pairs[round % pairs.length]!;
    const path = `/api/orgs/${org.id}`;
    const statuses = statusesOf(
      await atOnce(owners.map((owner, i) => () => moves[i]!(owner, owners[1 - i]!, path))),
    );
    const known = statuses.every((status) => [200, 401, 403, 404, 409].includes(status));
    if (!known || !statuses.includes(200)) wrong.push(`round ${round}: ${statuses.join()}`);
  };
  await expectRounds([3 * pairs.length, 2], race, () => galera.broken());
});

/** Of so many requests at once on three nodes, one succeeds and the others are rejected. */
async function onlyOne(
  { clients, done, refused }: { clients: number; done: number; refused: number },
  wrong: unknown[],
  send: (client: number) => Promise<Answer>,
): Promise<number[]> {
  const statuses = statusesOf(await atOnce(times(clients, (client) => () => send(client))));
  if (tally(statuses) !== tally([done, ...times(clients - 1, () => refused)])) wrong.push(tally(statuses));
  return statuses;
}

it('exchanges one code once, for many clients on three nodes', async () => {
  await expectRounds([30, 15], async (round, wrong) => {
    const code = await aCode(await anAccount(on(round)));
    const exchange = (i: number) => on(i).anyone.post('/api/auth/code/exchange', { code });
    await onlyOne({ clients: 15, done: 200, refused: 400 }, wrong, exchange);
  });
});

it('leaves no session alive that is derived on one node while its code is reused on another', async () => {
  const rounds = 200;
  const [owner, thief] = [on(0), on(1)];
  const account = await anAccount(owner);
  let often = 0;
  await expectRounds([rounds, 4], async (round, wrong) => {
    const race = await survivorsOfReuse(account, { owner, thief, checks: [owner, thief] }, round % 4);
    wrong.push(...race.survivors);
    if (race.derived >= 2) often += 1;
  });
  expect(often).toBeGreaterThanOrEqual(rounds / 4);
});

it('leaves no session of a family alive that ends while its codes are exchanged, each with one event', async () => {
  const at = { instances: [on(0), on(1)], db };
  await expectRounds([10, 50], async (round, wrong) => {
    wrong.push(...(await endFamilyDuringExchanges(at, 1 + 4 * round)).wrong);
  });
});

it('registers an e-mail once, for many clients on three nodes', async () => {
  const clients = 15;
  await expectRounds([15, 2 * clients], async (_, wrong) => {
    const email = anEmail();
    const passwords = times(clients, () => aPassword());
    const statuses = await onlyOne({ clients, done: 201, refused: 409 }, wrong, (i) => {
      const body = { email: i % 2 === 0 ? email : email.toUpperCase(), password: passwords[i] };
      return on(i).anyone.post('/api/auth/register', body);
    });
    const logins = await atOnce(
      passwords.map((password, i) => () => on(i + 1).anyone.post('/api/auth/login', { email, password })),
    );
    const winner = statuses.indexOf(201);
    const agreed = logins.every(({ status }, i) => status === (i === winner ? 200 : 401));
    if (!agreed) wrong.push(`logins: ${tally(statusesOf(logins))}`);
  });
});

it('adds a member once, for many callers on three nodes', async () => {
  await expectRounds([20, 12], async (round, wrong) => {
    const [owner, { email }] = await Promise.all([anAccount(on(round)), anAccount(on(round + 1))]);
    const path = `/api/orgs/${(await anOrgOf(owner)).id}/members`;
    const add = (i: number) => owner.at(on(i)).post(path, { email, role: 'member' });
    await onlyOne({ clients: 12, done: 201, refused: 409 }, wrong, add);
  });
});

it('creates 200 organizations that one user asks for at once on three nodes', async () => {
  const count = 200;
  await expectRounds([5, count], async (round, wrong) => {
    const owner = await anAccount(on(round));
    const create = (i: number) => () => owner.at(on(i)).post('/api/orgs', { name: `At once ${i}` });
    const answers = await atOnce(times(count, create));
    wrong.push(...answers.filter(({ status }) => status !== 201).map(({ text }) => text));
  });
});

const settling = { settle: () => galera.settle() };

it('loses no acknowledged write when the active node is killed, and uses the next', async () => {
  const strike = async ({ account }: MixedLoad, recoveriesMs: number[]): Promise<void> => {
    await sleep(1000);
    await cluster.node(0).kill();
    recoveriesMs.push(await recovery(account, roaming));
    await sleep(2000);
    await cluster.node(0).restart();
    recoveriesMs.push(await untilTheFirstIsUsed(account));
    await sleep(1000);
  };
  const { load, recoveriesMs } = await loadBeside([roaming, on(1), on(2)], strike, settling);
  expect(recoveriesMs[0]).toBeLessThan(RECOVERY_MS);
  await recovery(load.account, on(0));
});

it('takes a partitioned node out of rotation, although it still answers, and uses it again once it has rejoined', async () => {
  const strike = async ({ account }: MixedLoad, recoveriesMs: number[]): Promise<void> => {
    await sleep(500);
    const heal = await isolated();
    recoveriesMs.push(await recovery(account, roaming));
    // The instance that knows no other node says so.
    const { status, body } = await on(0).anyone.get('/health/ready');
    expect([status, body]).toMatchObject([503, { code: 'unavailable' }]);
    const me = await account.at(on(0)).get('/api/me');
    expect([me.status, me.headers.get('retry-after')]).toEqual([503, '1']);
    await sleep(2000);
    await heal();
    recoveriesMs.push(await untilTheFirstIsUsed(account), await recovery(account, on(0)));
  };
  const { recoveriesMs } = await loadBeside([roaming], strike, settling);
  expect(Math.max(...recoveriesMs)).toBeLessThan(RECOVERY_MS);
});

it('loses no acknowledged write when a node freezes', async () => {
  const strike = async ({ account }: MixedLoad, recoveriesMs: number[]): Promise<void> => {
    await sleep(500);
    await cluster.node(0).freeze();
    recoveriesMs.push(await recovery(account, roaming));
    await sleep(3000);
    cluster.node(0).thaw();
    await cluster.waitForSize(3);
    await untilTheFirstIsUsed(account);
  };
  const { recoveriesMs } = await loadBeside([roaming, on(1), on(2)], strike, settling);
  expect(recoveriesMs[0]).toBeLessThan(2 * RECOVERY_MS);
});

it.each([
  ['its node is cut off from the cluster', isolated],
  ['the cluster waits for nodes that do not answer', frozen],
])('waits with its start while %s', async (_what, strike) => {
  const heal = await strike();
  const starting = launch(installation, { ...UNLIMITED, ...galera.env(0) });
  const begin = performance.now();

  const waits = (): boolean => starting.logs.join().includes('waiting for the database');
  await Promise.race([waitFor('the instance waits', 20_000, waits), starting.listening]);
  await heal();
  const started = await starting.listening;
  // A start before the node notices its fate writes the row of the instance in vain, and listens while the node refuses.
  await expect
    .poll(async () => (await started.anyone.get('/health/ready')).status, { timeout: 20_000 })
    .toBe(200);
  const recoveryMs = performance.now() - begin;
  await started.stop();
  report({ faults: 1, requests: 1, wrong: 0, recoveriesMs: [recoveryMs] });
});

it('starts on another node while the first one is cut off from the cluster', async () => {
  const heal = await isolated();

  const started = await startInstance(installation, { DATABASE_URL: allNodes });
  const { status } = await started.anyone.get('/health/ready');
  await started.stop();
  await heal();

  expect(status).toBe(200);
  report({ faults: 1, requests: 1, wrong: 0 });
});

async function isolated(): Promise<() => Promise<void>> {
  await cluster.isolate(cluster.node(0));
  return () => cluster.heal(cluster.node(0));
}

async function frozen(): Promise<() => Promise<void>> {
  const others = [cluster.node(1), cluster.node(2)];
  await Promise.all(others.map((node) => node.freeze()));
  return async () => {
    for (const node of others) node.thaw();
    await cluster.waitForSize(3);
  };
}

/** Milliseconds until the instance that knows all nodes sends its statements to the first one again. */
async function untilTheFirstIsUsed(someone: Account): Promise<number> {
  const begin = performance.now();
  // Transactions that were written on that node, and not only copied to it.
  const writes = async () => Number((await cluster.node(0).status()).get('wsrep_replicated'));
  await waitFor('the first node is used', 10_000, async () => {
    const before = await writes();
    await atOnce(times(10, () => () => someone.at(roaming).post('/api/orgs', { name: 'Where am I' })));
    return (await writes()) - before >= 10;
  });
  return performance.now() - begin;
}
