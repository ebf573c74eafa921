import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import type { Answer } from '../support/answer.js';
import { atOnce } from '../support/at-once.js';
import { engine, instancesInADuel } from '../support/engine.js';
import { anAccount, anOrgOf, join, type Account } from '../support/personas.js';
import { type Cluster, startCluster, startClusterWithoutLimits } from '../support/service.js';

/** What an owner does at the same moment as another; no serial order lets both of a duel succeed. */
type Move = (who: Account, other: Account, members: string) => Promise<Answer>;

const demoteOther: Move = (who, other, members) => who.patch(`${members}/${other.id}`, { role: 'admin' });
const removeOther: Move = (who, other, members) => who.delete(`${members}/${other.id}`);
const stepDown: Move = (who, _other, members) => who.patch(`${members}/${who.id}`, { role: 'member' });
const leave: Move = (who, _other, members) => who.delete(`${members}/${who.id}`);

const DUELS: { name: string; moves: [Move, Move] }[] = [
  { name: 'demote each other', moves: [demoteOther, demoteOther] },
  { name: 'remove each other', moves: [removeOther, removeOther] },
  { name: 'step down', moves: [stepDown, stepDown] },
  { name: 'leave', moves: [leave, leave] },
  { name: 'demote and remove each other', moves: [demoteOther, removeOther] },
  { name: 'step down and leave', moves: [stepDown, leave] },
];

/**
 * What MySQL and MariaDB servers in the field may be set to. Sessions set their own isolation, READ COMMITTED; snapshot
 * isolation acts on a session that is left at, or asks for, REPEATABLE READ.
 */
const SERVERS: { name: string; settings: string[]; rounds: number }[] =
  engine === 'sqlite'
    ? [{ name: 'on one instance', settings: [], rounds: 34 }]
    : [
        { name: 'on a server as it comes', settings: [], rounds: 34 },
        {
          name: 'on a server of snapshot isolation',
          settings: ['--loose-innodb-snapshot-isolation=ON'],
          rounds: 12,
        },
      ];

describe.each(SERVERS)('two owners at once, $name', ({ settings, rounds }) => {
  let server: MariaDbServer | undefined;
  let cluster: Cluster;
  let alice: Account;
  let bob: Account;

  beforeAll(async () => {
    if (settings.length > 0) server = await MariaDbServer.start({ args: settings });
    cluster = server
      ? await startCluster(instancesInADuel, { mariadbPort: server.port })
      : await startClusterWithoutLimits();
    const [one, two] = [cluster.instances[0]!, cluster.instances.at(-1)!];
    alice = await anAccount(one, 'alice');
    bob = (await anAccount(one, 'bob')).at(two);
  });
  afterAll(async () => {
    try {
      await cluster.stop();
    } finally {
      await server?.close();
    }
  });

  async function duel([one, other]: [Move, Move]): Promise<object> {
    const org = await anOrgOf(alice);
    await join(org, alice, bob, 'owner');
    const members = `/api/orgs/${org.id}/members`;

    const answers = await atOnce([() => one(alice, bob, members), () => other(bob, alice, members)]);

    const [better, worse] = answers.map(({ status }) => status).toSorted((low, high) => low - high);
    const owners = await cluster.db.query(`SELECT user_id FROM members WHERE org_id = ? AND role = 'owner'`, [
      org.id,
    ]);
    return { better, worse, owners: owners.length };
  }

  const oneWon = { better: 200, worse: expect.toBeOneOf([403, 409]), owners: 1 };

  it.each(DUELS)(`$name, ${rounds} times, and one owner stays`, async ({ moves: [one, other] }) => {
    for (let round = 0; round < rounds; round += 1) {
      expect(await duel(round % 2 ? [one, other] : [other, one])).toEqual(oneWon);
    }
  });
});
