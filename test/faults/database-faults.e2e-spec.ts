import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { waitFor } from '../../tooling/wait.js';
import { atOnce, times } from '../support/at-once.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { launch } from '../support/service.js';
import {
  closeAfterAll,
  closeAfterTest,
  startInstance,
  Storage,
  through,
  UNLIMITED,
} from './support/deployment.js';
import { startCommitProxy } from './support/tcp-proxy.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report, expectRounds } from './support/figures.js';
import { loadBeside, MAX_ANSWER_MS, type MixedLoad, recovery } from './support/mixed-load.js';

const RECOVERY_MS = 5000;
const MEMORY_GROWTH_MIB = 100;

const { installation, server: database } = await closeAfterAll(Storage.on('mariadb', { durable: true }));
const network = await closeAfterAll(FaultProxy.start(database.port));
const env = { ...UNLIMITED, ...through(network.port, installation) };
const instance = await closeAfterAll(startInstance(installation, env));
const someone = await anAccount(instance);

interface Fault {
  name: string;
  begin: () => Promise<unknown>;
  lastsMs: number;
  end: () => Promise<unknown>;
  /** so short that clients may not notice */
  mild?: boolean;
  /** one statement fits into the deadline, so a check of readiness that finds a connection succeeds */
  maybeReady?: boolean;
}

const thaw = async (): Promise<void> => database.thaw();
const restart = () => database.restart();
const cutOften = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) {
    await network.cut();
    await sleep(200);
  }
};

const faults: Fault[] = [
  { name: 'killed', begin: () => database.kill(), lastsMs: 3000, end: restart },
  { name: 'killed and started at once', begin: () => database.kill(), lastsMs: 0, end: restart, mild: true },
  { name: 'stopped', begin: () => database.stop(), lastsMs: 2000, end: restart },
  { name: 'frozen', begin: () => database.freeze(), lastsMs: 8000, end: thaw },
  { name: 'frozen for a moment', begin: () => database.freeze(), lastsMs: 2000, end: thaw, mild: true },
  { name: 'refusing connections', begin: network.refuse, lastsMs: 4000, end: network.pass },
  { name: 'behind a network that drops packets', begin: network.drop, lastsMs: 10_000, end: network.pass },
  {
    name: 'half a second away',
    begin: () => network.delay(250),
    lastsMs: 6000,
    end: network.pass,
    mild: true,
  },
  {
    name: 'four seconds away',
    begin: () => network.delay(2000),
    lastsMs: 10_000,
    end: network.pass,
    maybeReady: true,
  },
  {
    name: 'cutting every connection again and again',
    begin: cutOften,
    lastsMs: 0,
    end: network.pass,
    mild: true,
  },
];

it.each(faults)('answers in time and truthfully while its database is $name', async (fault) => {
  const memoryBefore = instance.memoryMiB();
  let recoveredAt = 0;
  let inFault = 0;
  let readiness = 503;
  let memoryAfter = 0;
  const { load, acknowledged, recoveriesMs } = await loadBeside([instance], async (during, recoveries) => {
    await sleep(500);
    await fault.begin();
    const begun = during.history.now();
    await sleep(fault.lastsMs);
    memoryAfter = instance.memoryMiB();
    if (fault.mild !== true) readiness = (await instance.anyone.get('/health/ready')).status;
    inFault = during.refusedBetween(begun);
    await fault.end();
    recoveries.push(await recovery(during.account, instance));
    recoveredAt = during.history.now();
    await sleep(2500);
  });

  expect(acknowledged).toBeGreaterThan(0);
  expect(recoveriesMs[0]).toBeLessThan(RECOVERY_MS);
  expect(load.refusedBetween(recoveredAt), 'refused after the recovery').toBe(0);
  expect(fault.maybeReady === true ? [200, 503] : [503]).toContain(readiness);
  expect(inFault).toBeGreaterThanOrEqual(fault.mild === true ? 0 : 1);
  expect(memoryAfter - memoryBefore).toBeLessThan(MEMORY_GROWTH_MIB);
});

it('does not accumulate requests while the database is frozen', async () => {
  const before = instance.memoryMiB();
  await database.freeze();
  const waits: number[] = [];
  let wrong = 0;
  const ask = async (): Promise<void> => {
    const begin = performance.now();
    const { status, headers } = await someone.get('/api/me');
    waits.push(performance.now() - begin);
    if (status !== 503 || headers.get('retry-after') === null) wrong += 1;
  };
  for (let round = 0; round < 3; round += 1) await atOnce(times(300, () => ask));
  const longestAnswerMs = Math.max(...waits);
  const grown = instance.memoryMiB() - before;
  database.thaw();
  const recovered = await recovery(someone, instance);
  report({ faults: 1, requests: waits.length, wrong, longestAnswerMs, recoveriesMs: [recovered] });
  expect(wrong).toBe(0);
  expect(longestAnswerMs).toBeLessThan(MAX_ANSWER_MS);
  expect(recovered).toBeLessThan(RECOVERY_MS);
  expect(grown).toBeLessThan(MEMORY_GROWTH_MIB);
});

it('loses no acknowledged write when its database is killed ten times under load', async () => {
  const kills = 10;
  const strike = async ({ account }: MixedLoad, recoveries: number[]): Promise<void> => {
    while (recoveries.length < kills) {
      await sleep(200 + Math.random() * 600);
      await database.kill();
      await database.restart();
      recoveries.push(await recovery(account, instance));
    }
  };
  const { recoveriesMs } = await loadBeside([instance], strike, { faults: kills });
  expect(Math.max(...recoveriesMs)).toBeLessThan(RECOVERY_MS);
});

it.each([
  { name: 'was killed', away: () => database.kill(), back: restart },
  { name: 'refuses', away: network.refuse, back: network.pass },
  { name: 'is frozen', away: () => database.freeze(), back: thaw },
])('waits for a database that $name, says so, and then serves', async ({ away, back }) => {
  await away();
  const waiting = launch(installation, env);
  await closeAfterTest({ stop: () => waiting.kill() });
  await waitFor('it says that it waits', 10_000, () =>
    waiting.logs.some((line) => line.includes('waiting for the database')),
  );
  await sleep(1000);
  await back();
  const up = performance.now();
  const late = await waiting.listening;
  const took = performance.now() - up;
  expect((await someone.at(late).get('/api/me')).status).toBe(200);
  expect(took).toBeLessThan(2 * RECOVERY_MS);
  report({ faults: 1, requests: 1, wrong: 0, recoveriesMs: [took] });
  await late.stop();
  await recovery(someone, instance);
});

it.each([
  { fault: 'lose answer', written: 1 },
  { fault: 'lose request', written: 0 },
] as const)(
  'does not report as done, nor repeat, a commit that ends in "$fault"',
  async ({ fault, written }) => {
    const proxy = await closeAfterTest(startCommitProxy(database.port));
    const behind = await closeAfterTest(
      startInstance(installation, { ...UNLIMITED, ...through(proxy.port, installation) }),
    );
    await expectRounds([10, 2], async (_, wrong) => {
      const name = anEmail('org');
      const email = anEmail();
      await recovery(someone, behind);
      const cutBefore = proxy.cut;
      proxy.fault = fault;
      const orgAnswer = await someone.at(behind).post('/api/orgs', { name });
      proxy.fault = 'pass';
      expect(proxy.cut - cutBefore, 'the COMMIT was met').toBe(1);
      await recovery(someone, behind);
      proxy.fault = fault;
      const userAnswer = await behind.anyone.post('/api/auth/register', { email, password: aPassword() });
      proxy.fault = 'pass';
      for (const { status, headers, text } of [orgAnswer, userAnswer]) {
        if (status !== 503 || headers.get('retry-after') === null) wrong.push(`${status} ${text}`);
      }
      const found = await installation.db.query(
        `SELECT (SELECT COUNT(*) FROM orgs WHERE name = ?) AS orgs,
           (SELECT COUNT(*) FROM users WHERE email = ?) AS users,
           (SELECT COUNT(*) FROM members m JOIN orgs o ON o.id = m.org_id WHERE o.name = ?) AS owners`,
        [name, email, name],
      );
      const expected = JSON.stringify({ orgs: written, users: written, owners: written });
      const actual = JSON.stringify(found[0]);
      if (actual !== expected) wrong.push(`in the database: ${actual}`);
    });
  },
);
