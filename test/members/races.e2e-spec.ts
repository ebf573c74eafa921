import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { type Answer, theOneOf } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { engine, instancesInADuel, roundsOfARace } from '../support/engine.js';
import { alreadyMember, memberNotFound, notAMember } from '../support/expected.js';
import { roleOf } from '../support/inviting.js';
import {
  addMember,
  changeRole,
  memberPath,
  membersPath,
  orgsOf,
  removeMember,
} from '../support/org-members.js';
import { type Account, anAccount, anOrg, anOrgOf, join, type Org } from '../support/personas.js';
import { type Cluster, startCluster, startSharedCluster } from '../support/service.js';

const ROUNDS = roundsOfARace(20);
const CLIENTS = 20;

const cluster = await startSharedCluster();

const at = (index: number) => cluster.instances[index % cluster.instances.length]!;

describe('changes of one membership at once', () => {
  it('add a user once', async () => {
    const { org, owner, admin, outsider } = await anOrg(at(0));
    const answers = await atOnce(
      times(CLIENTS, (client) => () => {
        const [by, role] = client % 2 ? [owner, 'admin'] : [admin, 'member'];
        return addMember(by.at(at(client)), org, outsider, role);
      }),
    );
    const { member } = theOneOf(answers, 201, alreadyMember).body as { member: { role: string } };
    expect(await roleOf(cluster.db, org, outsider)).toBe(member.role);
  });

  it('promote a member whom another removes: the removal comes last, or is refused', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { org, owner, admin, member } = await anOrg(at(0));
      const [promoted, removed] = await atOnce([
        () => changeRole(owner, org, member, 'owner'),
        () => removeMember(admin.at(at(1)), org, member),
      ]);
      expect([
        [200, 403, 'owner'],
        [404, 200, undefined],
      ]).toContainEqual([promoted!.status, removed!.status, await roleOf(cluster.db, org, member)]);
    }
  });

  it('remove a member once', async () => {
    const { org, owner, admin, member } = await anOrg(at(0));
    const answers = await atOnce(
      times(
        CLIENTS,
        (client) => () => removeMember((client % 2 ? owner : admin).at(at(client)), org, member),
      ),
    );
    expect(theOneOf(answers, 200, memberNotFound)).toBeDefined();
    expect(await roleOf(cluster.db, org, member)).toBeUndefined();
  });

  it('of one user joining many organizations are all kept', async () => {
    const guest = await anAccount(at(0), 'guest');
    const owners: Account[] = [];
    while (owners.length < 10) owners.push(await anAccount(at(0), 'owner'));
    const orgs = await Promise.all(owners.map((owner) => anOrgOf(owner)));
    await atOnce(
      owners.map((owner, index) => () => join(orgs[index]!, owner.at(at(index)), guest, 'member')),
    );
    expect((await orgsOf(guest)).map(({ id }) => id).toSorted()).toEqual(orgs.map(({ id }) => id).toSorted());
  });
});

type Move = (who: Account, other: Account, org: Org) => Promise<Answer>;

/** Every way for an owner to go, or to have the other one go. */
const MOVES: Record<string, Move> = {
  demotes: (who, other, org) => changeRole(who, org, other, 'member'),
  removes: (who, other, org) => removeMember(who, org, other),
  'steps down': (who, _, org) => changeRole(who, org, who, 'admin'),
  leaves: (who, _, org) => who.post(`/api/orgs/${org.id}/leave`),
  'removes themselves': (who, _, org) => removeMember(who, org, who),
  'hands over': (who, other, org) => who.post(`/api/orgs/${org.id}/transfer`, { userId: other.id }),
  'hands over and leaves': (who, other, org) =>
    who.post(`/api/orgs/${org.id}/transfer`, { userId: other.id, leave: true }),
  'deletes the account': (who) => who.delete('/api/me', { password: who.password }),
};
const NAMES = Object.keys(MOVES);

async function orgOfBoth(alice: Account, bob: Account): Promise<Org> {
  const org = await anOrgOf(alice);
  await join(org, alice, bob, 'owner');
  return org;
}

/** Sends both at the same moment, and either one first in turn. */
function duel(
  round: number,
  org: Org,
  [alice, bob]: [Account, Account],
  one: Move,
  other: Move,
): Promise<Answer[]> {
  const [first, second] = round % 2 ? [bob, alice] : [alice, bob];
  return atOnce([() => one(first, second, org), () => other(second, first, org)]);
}

describe('two owners at once', () => {
  async function twoOwners(): Promise<{ org: Org; owners: [Account, Account] }> {
    const owners = await Promise.all([anAccount(at(0)), anAccount(cluster.instances.at(-1)!)]);
    return { org: await orgOfBoth(...owners), owners };
  }

  const pairs = NAMES.flatMap((one, place) => NAMES.slice(place).map((other) => [one, other] as const));
  it.each(pairs)('one %s, one %s: an owner stays', async (one, other) => {
    for (let round = 0; round < 3; round += 1) {
      const { org, owners } = await twoOwners();
      const answers = await duel(round, org, owners, MOVES[one]!, MOVES[other]!);
      const statuses = answers.map(({ status }) => status);
      expect(statuses).toContain(200);
      // 401: a change by somebody whose account was deleted meanwhile.
      for (const status of statuses) expect([200, 401, 403, 404, 409]).toContain(status);
      const left = await cluster.db.query(
        `SELECT m.user_id FROM members m JOIN users u ON u.id = m.user_id
          WHERE m.org_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL`,
        [org.id],
      );
      expect(left.length, statuses.join()).toBeGreaterThan(0);
    }
  });

  it('a deletion and anything else leave it whole, or deleted for good', async () => {
    const outsider = await anAccount(at(0));
    const more: Record<string, Move> = {
      ...MOVES,
      adds: (who, _, org) => addMember(who, org, outsider),
      deletes: (who, _, { id }) => who.delete(`/api/orgs/${id}`),
      restores: (who, _, { id }) => who.post(`/api/orgs/${id}/restore`),
    };
    delete more['deletes the account'];
    for (const [name, move] of Object.entries(more)) {
      const { org, owners } = await twoOwners();
      const [deletion, answer] = await duel(0, org, owners, more['deletes']!, move);
      expect([200, 403, 404], name).toContain(deletion!.status);
      expect([200, 201, 403, 404, 409], name).toContain(answer!.status);
      const [row] = await cluster.db.query('SELECT deleted_at FROM orgs WHERE id = ?', [org.id]);
      const wasRestored = name === 'restores' && answer!.status === 200;
      const isDeleted =
        !wasRestored && (deletion!.status === 200 || (name === 'deletes' && answer!.status === 200));
      expect(row!['deleted_at'] !== null, name).toBe(isDeleted);
      const events = await cluster.db.query(
        'SELECT org_revision FROM events WHERE org_id = ? GROUP BY org_revision HAVING COUNT(DISTINCT at) > 1',
        [org.id],
      );
      expect(events, name).toEqual([]);
    }
  });
});

/** No serial order lets both of a duel succeed. */
const DUELS: [one: string, other: string][] = [
  ['demotes', 'demotes'],
  ['removes', 'removes'],
  ['steps down', 'steps down'],
  ['removes themselves', 'removes themselves'],
  ['demotes', 'removes'],
  ['steps down', 'removes themselves'],
];

/**
 * What MySQL and MariaDB servers in the field may be set to. Sessions set their own isolation, READ COMMITTED; snapshot
 * isolation acts on a session that is left at, or asks for, REPEATABLE READ.
 */
const SNAPSHOTS = '--loose-innodb-snapshot-isolation=ON';
const SERVERS: { name: string; settings: string[] }[] = [
  { name: 'as it comes', settings: [] },
  ...(engine === 'sqlite' ? [] : [{ name: 'of snapshot isolation', settings: [SNAPSHOTS] }]),
];
const DUEL_ROUNDS = roundsOfARace(12);

describe.each(SERVERS)('two owners at once, on a server $name', ({ settings }) => {
  let server: MariaDbServer | undefined;
  let duelling: Cluster = cluster;
  let owners: [Account, Account];

  beforeAll(async () => {
    if (settings.length > 0) {
      server = await MariaDbServer.start({ args: settings });
      duelling = await startCluster(instancesInADuel, { mariadbPort: server.port });
    }
    const [one, two] = [duelling.instances[0]!, duelling.instances.at(-1)!];
    owners = [await anAccount(one, 'alice'), (await anAccount(one, 'bob')).at(two)];
  });
  afterAll(async () => {
    if (!server) return;
    try {
      await duelling.stop();
    } finally {
      await server.close();
    }
  });

  it.each(DUELS)(`one %s, one %s, ${DUEL_ROUNDS} times, and one owner stays`, async (one, other) => {
    for (let round = 0; round < DUEL_ROUNDS; round += 1) {
      const org = await orgOfBoth(...owners);
      const answers = await duel(round, org, owners, MOVES[one]!, MOVES[other]!);
      const [better, worse] = answers.map(({ status }) => status).toSorted((low, high) => low - high);
      const left = await duelling.db.query(
        "SELECT user_id FROM members WHERE org_id = ? AND role = 'owner'",
        [org.id],
      );
      expect([better, worse, left.length]).toEqual([200, expect.toBeOneOf([403, 409]), 1]);
    }
  });
});

describe('while an organization changes', () => {
  const CHANGES = 40;
  const READERS = 4;

  interface Detail {
    org: { name: string; members: { userId: string; role: string }[] };
  }

  it('its detail is a state that there was, with the tag of that state', async () => {
    const { org, owner, admin, member } = await anOrg(at(0));
    const path = `/api/orgs/${org.id}`;
    const states = new Map<string, { name: string; role: string }>();
    const reads: { tag: string; name: string; role: string | undefined }[] = [];
    const running = { writers: 1 };
    async function read(by: number): Promise<void> {
      const { headers, body } = await admin.at(at(by)).get<Detail>(path);
      const role = body.org.members.find(({ userId }) => userId === member.id)?.role;
      reads.push({ tag: headers.get('etag')!, name: body.org.name, role });
    }
    async function write(): Promise<void> {
      const state = { name: org.name, role: 'member' };
      states.set((await owner.get(path)).headers.get('etag')!, { ...state });
      for (let round = 0; round < CHANGES; round += 1) {
        const by = owner.at(at(round));
        const isRenamed = round % 2 === 0;
        if (isRenamed) state.name = `Name ${round}`;
        else state.role = state.role === 'member' ? 'admin' : 'member';
        const { headers } = isRenamed
          ? await by.patch(path, { name: state.name })
          : await changeRole(by, org, member, state.role);
        states.set(headers.get('etag')!, { ...state });
      }
      running.writers -= 1;
    }

    await atOnce([
      write,
      ...times(READERS, (by) => async () => {
        while (running.writers > 0) await read(by);
      }),
    ]);

    expect(states.size).toBe(CHANGES + 1);
    for (const { tag, name, role } of reads) expect({ tag, name, role }).toEqual({ tag, ...states.get(tag) });
  });

  it('a removed reader gets nothing that is newer than the removal', async () => {
    const { org, owner, member, outsider } = await anOrg(at(0));
    const members = membersPath(org);
    const paths = [
      `/api/orgs/${org.id}`,
      members,
      `${members}?limit=50`,
      `${members}?role=member`,
      memberPath(org, outsider),
    ];
    const newer: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      await atOnce([
        async () => {
          expect((await removeMember(owner, org, member)).status).toBe(200);
          await join(org, owner, outsider, 'member');
        },
        ...paths.map((path, by) => async () => {
          let answer = await member.at(at(by)).get(path);
          while (answer.status !== 403) {
            if (answer.status === 200 && answer.text.includes(outsider.email)) newer.push(path);
            answer = await member.at(at(by)).get(path);
          }
          expect(answer).toMatchObject(notAMember);
        }),
      ]);
      await removeMember(owner, org, outsider);
      await join(org, owner, member, 'member');
    }
    expect(newer).toEqual([]);
  });
});
