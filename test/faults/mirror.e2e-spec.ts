import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createServiceClient } from '../../client/src/service/index.ts';
import { Mirror } from '../../examples/mirror/mirror.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { accountsJson } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { insertRows } from '../support/rows.js';
import { clientOf } from '../support/service-client.js';
import { aServiceClient } from '../support/services.js';
import { closeAfterTest, register, RestartableService, Storage, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';
import { Random, seedOfRun } from './support/random.js';

const ORGS = 500;
const MEMBERS = 200;
const USERS = 20_000;
const FAULTS = ['disable', 'kill', 'freeze', 'disable', 'database'] as const;
const ROUNDS = 15;
const BY_ROOT = ['--as', 'root', '--reason', 'a test'];
const WRITERS = 6;

/** Memberships that `GET /api/memberships` lists, and names, as the database has them. */
async function stateOf(storage: Storage): Promise<string[]> {
  const members = await storage.query(
    `SELECT m.org_id AS orgId, m.user_id AS userId, m.role, o.name, u.email, u.name AS userName
      FROM members m JOIN orgs o ON o.id = m.org_id JOIN users u ON u.id = m.user_id
      WHERE o.deleted_at IS NULL AND u.disabled_at IS NULL`,
  );
  return members.map((row) => Object.values(row).map(String).join(' ')).toSorted();
}

function stateIn({ orgs, users }: Mirror): string[] {
  const lines: string[] = [];
  for (const [orgId, { name, members }] of orgs)
    for (const [userId, { role, isSuspended }] of members) {
      const user = users.get(userId);
      if (isSuspended || user?.disabled) continue;
      lines.push([orgId, userId, role, name, user?.email, user?.name].map(String).join(' '));
    }
  return lines.toSorted();
}

/** Changes memberships and names of the organizations of one owner until the signal. Failures are part of the faults. */
async function change(
  urls: readonly string[],
  owner: Owner,
  random: Random,
  signal: AbortSignal,
): Promise<number> {
  const send = clientOf(...urls);
  const { token } = owner;
  let done = 0;
  for (let turn = 0; !signal.aborted; turn += 1) {
    const orgId = random.pick(owner.orgIds);
    const member = random.pick(owner.members);
    const path = `/api/orgs/${orgId}`;
    const requests = [
      ['POST', `${path}/members`, { email: member.email, role: 'member' }],
      ['PATCH', `${path}/members/${member.id}`, { role: random.pick(['member', 'admin', 'owner']) }],
      ['DELETE', `${path}/members/${member.id}`, undefined],
      ['PATCH', path, { name: `Renamed ${turn}` }],
      ['PATCH', '/api/me/profile', { name: `Owner ${turn}` }],
      ...(turn % 10 === 0
        ? ([
            ['DELETE', path, undefined],
            ['POST', `${path}/restore`, undefined],
          ] as const)
        : []),
      ...(turn % 7 === 0 ? ([['POST', '/api/orgs', { name: `New ${turn}` }]] as const) : []),
    ] as const;
    for (const [method, route, body] of requests) {
      const answer = await send(method, route, { token, body, timeoutMs: 5000 }).catch(() => undefined);
      if (answer && answer.status < 300) done += 1;
    }
  }
  return done;
}

interface Owner {
  id: string;
  token: string;
  orgIds: string[];
  members: { id: string; email: string }[];
}

async function populate(storage: Storage, send: ReturnType<typeof clientOf>): Promise<Owner[]> {
  const users = times(USERS, () => ({ id: newEntityId() }));
  await insertRows(storage.installation.db, 'users', users);
  const orgs = times(ORGS, () => ({ id: newEntityId() }));
  await insertRows(storage.installation.db, 'orgs', orgs);
  const members = orgs.flatMap(({ id: org_id }, org) =>
    times(MEMBERS, (index) => ({ org_id, user_id: users[(org * 37 + index) % USERS]!.id })),
  );
  await insertRows(storage.installation.db, 'members', members);
  const owners: Owner[] = [];
  for (let index = 0; index < WRITERS; index += 1) {
    const { id, token, email } = await register(send);
    const orgIds = orgs.filter((_, org) => org % WRITERS === index).map((org) => org.id);
    const rows = orgIds.map((org_id) => ({ org_id, user_id: id, email, role: 'owner' }));
    await insertRows(storage.installation.db, 'members', rows);
    const some = users.slice(index * 100, index * 100 + 100);
    owners.push({
      id,
      token,
      orgIds,
      members: some.map((user) => ({ id: user.id, email: `${user.id}@example.com` })),
    });
  }
  return owners;
}

it(
  'three services mirror 100,000 memberships under load and faults, and end equal to the database',
  { timeout: 600_000 },
  async () => {
    const random = new Random(seedOfRun('mirror'));
    const storage = await closeAfterTest(Storage.on('mariadb'));
    const instances: RestartableService[] = [];
    for (const _ of times(3, () => 0))
      instances.push(await closeAfterTest(RestartableService.on(storage, UNLIMITED)));
    await instances[0]!.start();
    const urls = instances.map(({ url }) => url);
    const owners = await populate(storage, clientOf(urls[0]!));
    await Promise.all(instances.slice(1).map((instance) => instance.start()));

    const stop = new AbortController();
    const mirrors = await Promise.all(
      urls.map(async (baseUrl) => {
        const scopes = ['memberships', 'events', 'directory', 'directory:all'] as const;
        const { name, secret } = await aServiceClient(storage.installation.db, scopes);
        const mirror = new Mirror(createServiceClient({ baseUrl, credentials: { name, secret } }));
        return { mirror, ends: mirror.follow(stop.signal) };
      }),
    );
    const load = new AbortController();
    const writers = owners.map((owner, index) => change(urls, owner, new Random(index), load.signal));

    for (let round = 0; round < ROUNDS; round += 1) {
      const instance = random.pick(instances);
      const fault = FAULTS[round % FAULTS.length];
      if (fault === 'kill') {
        await instance.kill();
        await instance.start();
      } else if (fault === 'freeze') {
        instance.freeze();
        await sleep(random.between(200, 3000));
        instance.thaw();
      } else if (fault === 'database') {
        await storage.server.kill();
        await storage.server.restart();
      } else {
        const { email } = random.pick(random.pick(owners).members);
        await accountsJson(storage.installation, ['users', 'disable', email, ...BY_ROOT]);
        if (round % 2 === 0) await accountsJson(storage.installation, ['users', 'enable', email, ...BY_ROOT]);
      }
      await sleep(random.between(100, 1000));
    }
    load.abort();
    const acknowledged = (await Promise.all(writers)).reduce((sum, done) => sum + done, 0);

    const expected = await stateOf(storage);
    expect(expected.length).toBeGreaterThan(90_000);
    for (const { mirror } of mirrors) {
      await waitFor(
        'the mirror has seen the last change',
        hangTimeoutMs(),
        () => {
          const found = stateIn(mirror);
          return found.length === expected.length && found.every((line, index) => line === expected[index]);
        },
        500,
      ).catch(() => undefined);
      expect(difference(stateIn(mirror), expected)).toEqual([]);
    }
    stop.abort();
    await Promise.all(mirrors.map(({ ends }) => ends));
    report({ faults: ROUNDS, acknowledged, wrong: 0 });
  },
);

function difference(found: string[], expected: string[]): string[] {
  const [has, wants] = [new Set(found), new Set(expected)];
  const extra = found.filter((line) => !wants.has(line)).map((line) => `extra ${line}`);
  return [...extra, ...expected.filter((line) => !has.has(line)).map((line) => `missing ${line}`)].slice(
    0,
    20,
  );
}
