import { expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { accounts } from '../support/accounts-command.js';
import { aServiceClient } from '../support/services.js';
import { closeAfterTest, Storage } from '../faults/support/deployment.js';
import { faultsAtTheEnd, FeedReader } from '../faults/support/feed-reader.js';
import { RedisServer } from '../faults/support/redis-server.js';
import { expectHealthy } from '../faults/support/story.js';
import { previousRelease } from './support/build-release.js';
import { Customer } from './support/customers.js';
import { Balancer, type Build, present, Seat } from '../faults/support/fleet.js';

const CUSTOMERS = 4;
/** of each customer in each phase */
const ROUNDS = 2;

const { version, directory } = previousRelease();
const previous: Build = { name: version, directory, env: {} };

it(`replaces three instances of ${version} on MariaDB under load, goes back, and forward again`, async () => {
  const storage = await closeAfterTest(Storage.on('mariadb'));
  const { installation } = storage;
  const redis = await closeAfterTest(RedisServer.start());
  const env = { REDIS_URL: redis.url, TRUST_PROXY: '127.0.0.1' };
  const seats = await Promise.all(times(3, () => closeAfterTest(Seat.at(installation, env))));
  for (const seat of seats) await seat.start(previous);
  const balancer = await closeAfterTest(Balancer.before(seats));
  const service = await aServiceClient(installation.db, ['introspect', 'memberships', 'events']);
  const reader = new FeedReader(service, balancer);
  const customers = times(CUSTOMERS, () => new Customer(balancer.url, service, installation.db));
  await Promise.all(customers.map((customer) => customer.begin()));

  let isOver = false;
  const load = customers.map((customer) => customer.work(() => isOver));
  const beside = async (phase: string, step: () => Promise<unknown>): Promise<void> => {
    await step();
    const goals = customers.map((customer) => customer.rounds + ROUNDS);
    await waitFor(`${ROUNDS} rounds of each customer: ${phase}`, 4 * hangTimeoutMs(), () =>
      customers.every(({ rounds, failures }, index) => failures.length > 0 || rounds >= goals[index]!),
    );
    expect(
      customers.flatMap(({ failures }) => failures),
      phase,
    ).toEqual([]);
    console.info(`${phase}: ${customers.reduce((sum, { requests }) => sum + requests, 0)} requests so far`);
  };
  const replaceAll = async (build: Build): Promise<void> => {
    for (const [index, seat] of seats.entries())
      await beside(`${index + 1} of 3 on ${build.name}`, () => balancer.replace(seat, build));
  };

  try {
    await beside(`all on ${version}`, () => Promise.resolve());
    await beside('the schema migrated', async () =>
      expect(await accounts(installation, ['migrate'])).toMatchObject({ code: 0 }),
    );
    await replaceAll(present);
    await replaceAll(previous);
    await replaceAll(present);
  } finally {
    isOver = true;
    await Promise.all(load);
  }

  expect(await Promise.all(customers.map((customer) => customer.faults()))).toEqual(customers.map(() => []));
  expect(await faultsAtTheEnd(installation.db, [reader])).toEqual([]);
  await expectHealthy(installation);
  const logs = seats.flatMap((seat) => seat.logs);
  expect(logs.filter((line) => /"level":[56]0|"status":500/.test(line))).toEqual([]);
});

it(`migrates a SQLite file of ${version}, goes back, and forward again`, async () => {
  const { installation } = await closeAfterTest(Storage.on('sqlite'));
  const seat = await closeAfterTest(Seat.at(installation));
  await seat.start(previous);
  const service = await aServiceClient(installation.db, ['introspect', 'memberships', 'events']);
  const customer = new Customer(seat.url, service, installation.db);
  await customer.begin();
  const threeRounds = async (): Promise<void> => {
    for (let count = 0; count < 3; count += 1) await customer.round();
  };
  await threeRounds();
  await seat.stop();

  expect(await accounts(installation, ['migrate'])).toMatchObject({ code: 0 });
  await seat.start(present);
  await threeRounds();
  for (const build of [previous, present]) {
    await seat.stop();
    await seat.start(build);
    await threeRounds();
  }

  expect(await customer.faults()).toEqual([]);
  expect(await faultsAtTheEnd(installation.db, [new FeedReader(service, seat)])).toEqual([]);
  await seat.stop();
  await expectHealthy(installation);
});
