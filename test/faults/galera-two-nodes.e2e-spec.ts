import { beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { createDataSource, dataSourceOptions } from '../../src/database/database.module.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { withConnection } from '../../tooling/servers/mariadb.js';
import { waitFor } from '../../tooling/wait.js';
import { atOnce, times } from '../support/at-once.js';
import { forgetSteps, protect, type Protected } from '../support/second-factor.js';
import { type Account, aCode, anAccount, anOrgOf, join, type Org } from '../support/personas.js';
import { asRecords, asString } from '../support/service-client.js';
import { closeAfterAll, UNLIMITED } from './support/deployment.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { done } from './support/story.js';

const galera = await closeAfterAll(GaleraService.start({ nodes: 2, env: UNLIMITED }));
/** The service's own connections to the second node, for statements by themselves. */
const connections = createDataSource(await dataSourceOptions(parseEnv(galera.env(1)), SCHEMA));
await connections.initialize();
await closeAfterAll({ close: () => connections.destroy() });

describe('on a node that lags', () => {
  const rounds = 3;
  const [here, there] = [galera.on(0), galera.on(1)];
  const [writer, lagging] = [galera.cluster.node(0), galera.cluster.node(1)];
  /** Two, as many as there are threads that apply what other nodes wrote. */
  const appliers = [1, 2];

  beforeAll(async () => {
    await writer.execute('CREATE TABLE test.held (id integer NOT NULL PRIMARY KEY, n integer NOT NULL)');
    for (const id of appliers) await writer.execute(`INSERT INTO test.held VALUES (${id}, 0)`);
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
    return { owner, other, org: await anOrgOf(owner), code: await aCode(owner) };
  }

  const membersOf = ({ org }: News) => `/api/orgs/${org.id}/members`;

  /**
   * The writer commits something that has not arrived on the lagging node, and the request begins there. The
   * node then catches up once the request waits for it, or has not waited.
   */
  function lag<Known, Answer>(
    acknowledge: () => Promise<Known>,
    request: (known: Known) => Promise<Answer>,
  ): Promise<Answer> {
    return withConnection(lagging.port, async (holder) => {
      // Else it would make the whole cluster wait for itself.
      await holder.query('SET GLOBAL wsrep_desync = ON');
      try {
        // A table lock stops the threads that apply, at the first row that is for that table.
        await holder.query('LOCK TABLES test.held READ');
        for (const id of appliers) await writer.execute(`UPDATE test.held SET n = n + 1 WHERE id = ${id}`);
        const known = await acknowledge();
        let answered = false;
        const answer = request(known).finally(() => (answered = true));
        // What it rejects with is for the await below.
        answer.catch(() => undefined);
        let before: string[] = [];
        await waitFor('the request waits', 10_000, async () => {
          const now = await statementsAtTheLagging();
          const waits = now.some((statement) => before.includes(statement));
          before = now;
          return answered || waits;
        });
        await holder.query('UNLOCK TABLES');
        return await answer;
      } finally {
        await holder.query('UNLOCK TABLES');
        await holder.query('SET GLOBAL wsrep_desync = OFF');
      }
    });
  }

  /** What is being run for the service, each told from the same statement run again. */
  async function statementsAtTheLagging(): Promise<string[]> {
    const rows = await lagging.execute(
      `SELECT CONCAT(id, ' ', query_id) AS statement FROM information_schema.processlist
        WHERE db = '${new URL(galera.db.url).pathname.slice(1)}' AND command = 'Query' AND info IS NOT NULL`,
    );
    return asRecords(rows).map((row) => asString(row['statement']));
  }

  async function expectLagging<Known, Answer>(
    expected: Answer,
    acknowledge: () => Promise<Known>,
    request: (what: Known) => Promise<Answer>,
  ): Promise<void> {
    const found: Answer[] = [];
    for (let round = 0; round < rounds; round += 1) found.push(await lag(acknowledge, request));
    expect(found).toEqual(times(rounds, () => expected));
    report({ faults: rounds, requests: rounds, wrong: 0 });
  }

  it('applies a membership after its user, on several threads at once', async () => {
    const { org } = await news();
    await expectLagging(
      [{ role: 'member' }],
      () => addLastOf(times(2000, newEntityId), org),
      (userId) => connections.query<object[]>('SELECT role FROM members WHERE user_id = ?', [userId]),
    );
    await galera.cluster.waitForSize(2);
  });

  /** Creates users in one transaction, which takes a while to apply, and adds the last of them in another. */
  async function addLastOf(userIds: string[], org: Org): Promise<string> {
    await galera.db.query(
      `INSERT INTO users (id, email, password_hash, created_at)
        VALUES ${userIds.map(() => "(?, ?, 'none', 1)").join()}`,
      userIds.flatMap((id) => [id, `${id}@example.com`]),
    );
    const last = userIds.at(-1)!;
    await galera.db.query(
      `INSERT INTO members (org_id, user_id, email, role, joined_at) VALUES (?, ?, ?, 'member', 1)`,
      [org.id, last, `${last}@example.com`],
    );
    return last;
  }

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
      ({ other: { email, password } }) => there.anyone.post('/api/auth/login', { email, password }),
      200,
    ],
  ])('%s upon what another node acknowledged', async (verb, request, expected) => {
    const acknowledge = async (): Promise<News> => {
      const made = await news();
      if (verb !== 'adds') await join(made.org, made.owner, made.other, 'member');
      return made;
    };
    await expectLagging(expected, acknowledge, async (what) => (await request(what)).status);
  });

  const SESSION = 'INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at)';

  it.each<[string, string, (what: News) => unknown[]]>([
    ['an UPDATE', 'UPDATE orgs SET revision = revision + 1 WHERE id = ?', ({ org }) => [org.id]],
    ['a DELETE', 'DELETE FROM members WHERE org_id = ?', ({ org }) => [org.id]],
    [
      'an INSERT that refers to it',
      `${SESSION} VALUES (?, ?, 0, 0, 0)`,
      ({ other }) => [newEntityId(), other.id],
    ],
    [
      'an INSERT that copies it',
      `${SESSION} SELECT ?, id, 0, 0, 0 FROM users WHERE id = ?`,
      ({ other }) => [newEntityId(), other.id],
    ],
  ])('%s by itself sees what another node acknowledged', async (_what, sql, valuesOf) => {
    await expectLagging(1, news, async (what) => {
      const { affectedRows } = await connections.query<{ affectedRows: number }>(sql, valuesOf(what));
      return affectedRows;
    });
  });
});

describe('a second factor', () => {
  const rounds = 9;
  const logins = 50;
  const guesses = 40;

  /** Logs in so often at once, on both nodes in turn, and returns the statuses of the answers. */
  async function statusesAtOnce(
    { email, password }: Account,
    count: number,
    code: string,
  ): Promise<number[]> {
    const first = await galera
      .on(0)
      .anyone.post<{ challenge: string }>('/api/auth/login', { email, password });
    const { challenge } = done(first, 403);
    const answers = await atOnce(
      times(
        count,
        (turn) => () => galera.on(turn).anyone.post('/api/auth/login/second-factor', { challenge, code }),
      ),
    );
    return answers.map(({ status }) => status);
  }

  async function logInAtOnce(account: Account, count: number, code: string): Promise<string> {
    const statuses = await statusesAtOnce(account, count, code);
    const isLetIn = statuses.filter((status) => status === 200).length;
    const isRefused = statuses.filter((status) => status === 400 || status === 429).length;
    return `${isLetIn} let in, ${isRefused} refused`;
  }

  async function aProtectedAccount(turn: number): Promise<Protected> {
    const enrolled = await protect(galera.on(0), await anAccount(galera.on(turn)));
    await galera.settle();
    return enrolled;
  }

  it('lets one of 50 logins in by a code of the app that both nodes are sent at the same moment', async () => {
    const { account, app } = await aProtectedAccount(0);
    const results: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await forgetSteps(galera, account);
      // The wrong ones of the round before have used up the attempts.
      await galera.db.query('DELETE FROM second_factor_failures');
      await galera.settle();
      results.push(await logInAtOnce(account, logins, app.at()));
      await galera.settle();
    }
    expect(results).toEqual(times(rounds, () => `1 let in, ${logins - 1} refused`));
    report({ faults: rounds, requests: rounds * (logins + 1), wrong: 0 });
  });

  it('compares ten of 40 wrong codes that both nodes are sent at the same moment', async () => {
    const isCompared = (turn: number): number => (turn < 10 ? 400 : 429);
    for (let round = 0; round < rounds; round += 1) {
      const { account, app } = await aProtectedAccount(round);
      const statuses = await statusesAtOnce(account, guesses, app.wrong());
      expect(statuses.toSorted((one, other) => one - other)).toEqual(times(guesses, isCompared));
    }
    report({ faults: rounds, requests: rounds * (guesses + 1), wrong: 0 });
  });

  it('lets one of two logins in by a recovery code that both nodes are sent at the same moment', async () => {
    const { account, recoveryCodes } = await aProtectedAccount(1);
    const results: string[] = [];
    for (const code of recoveryCodes) results.push(await logInAtOnce(account, 2, code));
    expect(results).toEqual(recoveryCodes.map(() => '1 let in, 1 refused'));
    report({ faults: recoveryCodes.length, requests: 3 * recoveryCodes.length, wrong: 0 });
  });
});
