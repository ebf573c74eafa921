import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AccountDisablingService } from '../../src/accounts/account-disabling.service.js';
import { OnlyOwnerError, OwnerDisabledError } from '../../src/accounts/accounts.errors.js';
import { OrgOwnersService } from '../../src/accounts/org-owners.service.js';
import { CliModule } from '../../src/cli/cli.module.js';
import { parseEnv } from '../../src/config/parse-env.js';
import { atOnce } from '../support/at-once.js';
import { aDataSource } from '../support/data-source.js';
import { type Account, anAccount, anOrgOf, type Org } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraCluster } from './support/galera-cluster.js';
import { startInstances, stopAll, through } from './support/instance.js';
import { Storage } from './support/storage.js';

const NO_LIMITS = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' };
const ROUNDS = 60;
const OPERATOR = { kind: 'operator', id: 'test' } as const;

/** The services of a command at one node, without the half second that each command takes to start. */
interface Operator {
  dataSource: DataSource;
  context: INestApplicationContext;
}

let cluster: GaleraCluster;
let storage: Storage;
let instances: Instance[];
let operators: Operator[];

beforeAll(async () => {
  cluster = await GaleraCluster.start({ nodes: 2 });
  storage = await Storage.at(cluster.node(0).port);
  const places = cluster.nodes.map(
    ({ port }) => through(port, storage.installation) as Record<string, string>,
  );
  instances = await startInstances(
    storage.installation,
    places.map((place) => ({ ...NO_LIMITS, ...place })),
  );
  operators = await Promise.all(places.map(anOperator));
});
afterAll(async () => {
  await Promise.all(operators.map(({ dataSource }) => dataSource.destroy()));
  await stopAll(instances);
  await storage.close();
  await cluster.close();
});

async function anOperator(place: Record<string, string>): Promise<Operator> {
  const env = { ...storage.installation.env, ...place };
  const dataSource = await aDataSource({ ...storage.installation, env });
  const context = await NestFactory.createApplicationContext(CliModule.forRoot(parseEnv(env), dataSource), {
    logger: false,
    abortOnError: false,
  });
  return { dataSource, context };
}

const on = (i: number): Instance => instances[i % instances.length]!;
const by = (i: number): INestApplicationContext => operators[i % operators.length]!.context;

type Outcome = 'done' | 'not done' | 'refused';

async function outcomeOf(work: Promise<boolean>): Promise<Outcome> {
  try {
    return (await work) ? 'done' : 'not done';
  } catch (error) {
    if (error instanceof OnlyOwnerError || error instanceof OwnerDisabledError) return 'refused';
    throw error;
  }
}

const disable = (user: Account, i: number, force = false): Promise<Outcome> =>
  outcomeOf(by(i).get(AccountDisablingService).disable(user.id, { actor: OPERATOR, force }));

const makeOwner = (user: Account, org: Org, i: number): Promise<Outcome> =>
  outcomeOf(
    by(i).get(OrgOwnersService).add({ orgId: org.id, userId: user.id, actor: OPERATOR, force: true }),
  );

async function anOrgWithoutOwner(i: number): Promise<Org> {
  const owner = await anAccount(on(i));
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
  const outcomes = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const org = await anOrgWithoutOwner(round);
    const stranger = await anAccount(on(round));
    await cluster.waitUntilEqual();
    const [made, disabled] = await atOnce([
      () => makeOwner(stranger, org, round),
      () => disable(stranger, round + 1),
    ]);
    const outcome = `${made}, ${disabled}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    await cluster.waitUntilEqual();
    const owners = await enabledOwners(org);
    const expected = made === 'done' ? 'done, refused' : 'refused, done';
    if (outcome !== expected || owners !== (made === 'done' ? 1 : 0)) wrong.push(`${round}: ${outcome}`);
  }
  console.info(Object.fromEntries(outcomes));
  report({ faults: ROUNDS, requests: 2 * ROUNDS, wrong: wrong.length });
  expect(wrong).toEqual([]);
});
