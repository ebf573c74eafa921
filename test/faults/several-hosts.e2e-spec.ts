import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { beforeEach, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { anAccount } from '../support/personas.js';
import {
  closeAfterAll,
  closeAfterTest,
  hostsUrl,
  startInstance,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { FaultProxy } from './support/fault-proxy.js';
import { report } from './support/figures.js';
import { loadBeside, type MixedLoad, recovery } from './support/mixed-load.js';

const RECOVERY_MS = 5000;
const BACK_MS = 5000;

// Three ways to one server: which of them is used shows in what goes through, and the data are the same.
const { installation, server } = await closeAfterAll(Storage.on('mariadb', { durable: true }));
const hosts = await Promise.all(times(3, () => closeAfterAll(FaultProxy.start(server.port))));
const ports = hosts.map(({ port }) => port);
const env = { ...UNLIMITED, DATABASE_URL: hostsUrl(installation, ports) };
const instance = await closeAfterAll(startInstance(installation, env));
const someone = await anAccount(instance);

beforeEach(async () => void (await untilOnlyTheFirstIsUsed()));

/** Bytes that each host has received: they tell where the statements of the service go. */
const received = (): Promise<number[]> => Promise.all(hosts.map((host) => host.bytes()));

async function used(): Promise<boolean[]> {
  const before = await received();
  for (let i = 0; i < 5; i += 1) await someone.get('/api/me');
  return (await received()).map((bytes, i) => bytes > before[i]!);
}

async function untilOnlyTheFirstIsUsed(): Promise<number> {
  const begin = performance.now();
  await waitFor('the first host is used, and no other', BACK_MS, async () => {
    return (await used()).join() === 'true,false,false';
  });
  return performance.now() - begin;
}

const first = hosts[0]!;
const faults: [name: string, begin: () => Promise<unknown>][] = [
  ['refuses', first.refuse],
  ['drops every packet', first.drop],
  ['answers no statement', first.ignore],
  ['is far too slow', () => first.delay(3000)],
];

it.each(faults)('uses the second host when the first %s, and goes back', async (_name, begin) => {
  let refusedByTheSecond = 0;
  const { recoveriesMs } = await loadBeside([instance], async (load, recoveries) => {
    await sleep(300);
    await begin();
    recoveries.push(await recovery(load.account, instance));
    // Requests that the fault caught in the middle of their work have had their answers by now.
    await sleep(RECOVERY_MS);
    const settled = load.history.now();
    expect(await used()).toEqual([false, true, false]);
    await sleep(2000);
    refusedByTheSecond = load.refusedBetween(settled, load.history.now());
    await first.pass();
    recoveries.push(await untilOnlyTheFirstIsUsed());
    await sleep(1000);
  });
  expect(refusedByTheSecond).toBe(0);
  // What was asked of the first host waits for it as long as for a single one, 5.5 s, and may wait once more elsewhere.
  expect(recoveriesMs[0]).toBeLessThan(2 * RECOVERY_MS);
});

it('uses the third host without the first two, answers 503 without any, and recovers', async () => {
  const strike = async ({ account }: MixedLoad, recoveries: number[]): Promise<void> => {
    await first.refuse();
    recoveries.push(await recovery(account, instance));
    await hosts[1]!.refuse();
    recoveries.push(await recovery(account, instance));
    expect(await used()).toEqual([false, false, true]);
    await hosts[2]!.refuse();
    await waitFor('it is not ready', 5000, async () => {
      return (await instance.anyone.get('/health/ready')).status === 503;
    });
    await sleep(1000);
    await hosts[1]!.pass();
    recoveries.push(await recovery(account, instance));
    expect(await used()).toEqual([false, true, false]);
    await first.pass();
    await hosts[2]!.pass();
    recoveries.push(await untilOnlyTheFirstIsUsed());
  };
  const { recoveriesMs } = await loadBeside([instance], strike, { faults: 3 });
  expect(Math.max(...recoveriesMs)).toBeLessThan(RECOVERY_MS);
});

it('stays with the first host when it is only busy', async () => {
  const single = await closeAfterTest(startInstance(installation, { ...env, DATABASE_POOL_SIZE: '2' }));
  const holder = await createConnection(installation.db.url);
  await closeAfterTest({ close: () => holder.end() });
  const [, ...before] = await received();
  await holder.query('LOCK TABLES users WRITE');
  const holding = someone.at(single).get('/api/me');
  await waitFor('the only connection waits', 5000, async () => {
    const [rows] = await holder.query('SHOW PROCESSLIST');
    return (rows as { State: string | null }[]).some(({ State }) => State?.includes('metadata lock'));
  });
  // Another query: the same one would wait for the answer of the first, not for a connection.
  const { email, password } = someone;
  const waiting = await single.anyone.post('/api/auth/login', { email, password });
  await holder.query('UNLOCK TABLES');
  await holding;

  expect(waiting.status).toBe(503);
  // Its line may come after the answer.
  await waitFor('the wait for the pool is logged', hangTimeoutMs(), () =>
    single.logs.some((line) => line.includes('POOL_ACQUIRE_TIMEOUT')),
  );
  expect((await received()).slice(1)).toEqual(before);
  expect(single.logs.filter((line) => line.includes('database host taken out of rotation'))).toEqual([]);
  report({ faults: 1, requests: 2, wrong: 0 });
});

it.each(faults.slice(0, 2))('starts when its first host %s, and goes to it later', async (_name, begin) => {
  await begin();
  await closeAfterTest({ close: () => first.pass() });
  const late = await closeAfterTest(startInstance(installation, env));

  const { status } = await someone.at(late).get('/api/me');
  await first.pass();

  expect(status).toBe(200);
  report({ faults: 1, requests: 1, wrong: 0 });
});
