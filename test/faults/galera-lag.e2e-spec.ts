import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEnv } from '../../src/config/env.js';
import { createDataSource, dataSourceOptions } from '../../src/database/data-source.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { SCHEMA } from '../../src/app/schema.js';
import { times } from '../support/at-once.js';
import { type Account, aCode, anAccount, anOrgOf, join, type Org } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { through } from './support/instance.js';
import { prepareLag, whileLagging } from './support/lagging-node.js';

const ROUNDS = 3;

let galera: GaleraService;
let here: Instance;
let there: Instance;
/** The service's own connections to the node that lags, for statements by themselves. */
let connections: DataSource;

beforeAll(async () => {
  const env = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' };
  galera = await GaleraService.start({ nodes: 2, env });
  [here, there] = [galera.on(0), galera.on(1)];
  const { cluster, installation } = galera;
  const lagging = parseEnv(through(cluster.node(1).port, installation));
  connections = await createDataSource(await dataSourceOptions(lagging, SCHEMA)).initialize();
  await prepareLag(cluster.node(0));
});

afterAll(async () => {
  await connections.destroy();
  await galera.stop();
});

/** What the first node has committed and the second has not applied. */
interface News {
  owner: Account;
  other: Account;
  org: Org;
  code: string;
}

async function news(): Promise<News> {
  const [owner, other] = await Promise.all([anAccount(here), anAccount(here)]);
  const org = await anOrgOf(owner);
  return { owner, other, org, code: await aCode(owner) };
}

/** Creates users in one transaction, which takes a while to apply, and adds the last of them in another. */
async function addLastOf(userIds: string[], org: Org): Promise<string> {
  const { db } = galera.installation;
  await db.query(
    `INSERT INTO users (id, email, password_hash, created_at) VALUES ${userIds.map(() => "(?, ?, 'none', 1)").join()}`,
    userIds.flatMap((id) => [id, `${id}@example.com`]),
  );
  const last = userIds.at(-1)!;
  await db.query(
    `INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'member', 1)`,
    [org.id, last, `${last}@example.com`],
  );
  return last;
}

const membersOf = ({ org }: News) => `/api/orgs/${org.id}/members`;

it('applies a membership after its user, on several threads at once', async () => {
  const { org } = await news();
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await lag(
      () => addLastOf(times(2000, newEntityId), org),
      (userId) => connections.query<object[]>('SELECT role FROM members WHERE user_id = ?', [userId]),
    );
    expect(found).toEqual([{ role: 'member' }]);
  }
  await galera.cluster.waitForSize(2);
  report({ faults: ROUNDS, requests: ROUNDS, wrong: 0 });
});

it.each<[string, (what: News) => Promise<{ status: number }>, number]>([
  [
    'adds',
    (what) => what.owner.at(there).post(membersOf(what), { email: what.other.email, role: 'member' }),
    201,
  ],
  [
    'promotes',
    (what) => what.owner.at(there).patch(`${membersOf(what)}/${what.other.id}`, { role: 'owner' }),
    200,
  ],
  ['removes', (what) => what.owner.at(there).delete(`${membersOf(what)}/${what.other.id}`), 200],
  ['lists', (what) => what.other.at(there).get(membersOf(what)), 200],
  ['exchanges', ({ code }) => there.anyone.post('/api/auth/code/exchange', { code }), 200],
  ['issues', ({ other }) => other.at(there).post('/api/auth/code'), 201],
  [
    'logs in',
    ({ other }) => there.anyone.post('/api/auth/login', { email: other.email, password: other.password }),
    200,
  ],
])('%s upon what another node acknowledged, on a node that lags', async (verb, request, expected) => {
  const statuses: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const acknowledge = async (): Promise<News> => {
      const made = await news();
      if (verb !== 'adds') await join(made.org, made.owner, made.other, 'member');
      return made;
    };
    statuses.push((await lag(acknowledge, request)).status);
  }
  expect(statuses).toEqual(Array(ROUNDS).fill(expected));
  report({ faults: ROUNDS, requests: ROUNDS, wrong: 0 });
});

it.each<[string, (what: News) => [string, unknown[]]]>([
  ['an UPDATE', ({ org }) => ['UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]]],
  ['a DELETE', ({ org }) => ['DELETE FROM members WHERE org_id = ?', [org.id]]],
  [
    'an INSERT that refers to it',
    ({ other }) => [
      'INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at) VALUES (?, ?, 0, 0, 0)',
      [newEntityId(), other.id],
    ],
  ],
  [
    'an INSERT that copies it',
    ({ other }) => [
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at)
        SELECT ?, id, 0, 0, 0 FROM users WHERE id = ?`,
      [newEntityId(), other.id],
    ],
  ],
])('%s by itself sees what another node acknowledged, on a node that lags', async (_what, statementAbout) => {
  const changed: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { affectedRows } = await lag(news, (what) => {
      const [sql, values] = statementAbout(what);
      return connections.query<{ affectedRows: number }>(sql, values);
    });
    changed.push(affectedRows);
  }
  expect(changed).toEqual(Array(ROUNDS).fill(1));
  report({ faults: ROUNDS, requests: ROUNDS, wrong: 0 });
});

function lag<Known, Answer>(
  acknowledge: () => Promise<Known>,
  request: (what: Known) => Promise<Answer>,
): Promise<Answer> {
  const { cluster, installation } = galera;
  const schema = new URL(installation.db.url).pathname.slice(1);
  return whileLagging({ writer: cluster.node(0), lagging: cluster.node(1), schema }, acknowledge, request);
}
