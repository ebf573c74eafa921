import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { createDataSource, dataSourceOptions } from '../../src/database/database.module.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { withConnection } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { atOnce, times } from '../support/at-once.js';
import { forgetSteps, protect, type Protected } from '../support/second-factor.js';
import {
  type Account,
  aCode,
  anAccount,
  anOrgOf,
  exchange,
  join,
  logIn,
  type Org,
} from '../support/personas.js';
import { asRecords, asString } from '../support/service-client.js';
import { closeAfterAll, countOf, UNLIMITED } from './support/deployment.js';
import { expectRounds, report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { done } from './support/story.js';
import { SecondFactorRemoval } from '../../src/accounts/second-factor-removal.js';
import { UserDeletion } from '../../src/accounts/user-deletion.js';
import { UserOperations } from '../../src/accounts/user-operations.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { MembersService } from '../../src/orgs/members/members.service.js';
import { OnlyOwnerError } from '../../src/orgs/state/orgs.errors.js';
import { RefusedError } from '../../src/problems/problem.js';
import { ServiceChanges } from '../../src/services/service-changes.js';
import { ServiceSecretsRepository } from '../../src/services/service-secrets.repository.js';
import type { Answer } from '../support/answer.js';
import { aRefreshableLogin, partsOf, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import type { Instance } from '../support/service.js';
import { basic } from '../support/services.js';

const OPERATOR = { kind: 'operator', id: 'test' } as const;
const ROUNDS = 60;
const EXCHANGES = 4;
const TRACES = 10;
const REQUIREMENTS = 20;
const REFRESHES = 200;

const galera = await closeAfterAll(GaleraService.start({ nodes: 2, env: UNLIMITED }));
/** The service's own connections to the second node, for statements by themselves. */
const connections = createDataSource(await dataSourceOptions(parseEnv(galera.env(1)), SCHEMA));
await connections.initialize();
await closeAfterAll({ close: () => connections.destroy() });
const commands = await closeAfterAll(galera.commands());
const ada = await anAccount(galera.on(0), 'ada');
afterEach(() => galera.settle());

const changes = (turn: number): ServiceChanges => commands.at(turn).get(ServiceChanges);

type Secret = Awaited<ReturnType<ServiceChanges['add']>> & { name: string };
type Change = (by: ServiceChanges, service: Secret) => Promise<unknown>;

it.each<[how: string, end: Change, renew: Change]>([
  ['is disabled', (by, { name }) => by.disable(name, OPERATOR), (by, { name }) => by.enable(name, OPERATOR)],
  [
    'has its sessions ended with its secret',
    (by, { name, id }) => by.revokeSecret(name, { secretId: id, endSessions: true }, OPERATOR),
    async (by, service) => Object.assign(service, await by.rotate(service.name, OPERATOR)),
  ],
])('leaves no session alive of a service that %s on another node', async (how, end, renew) => {
  let [opened, refused] = [0, 0];
  await expectRounds([ROUNDS, EXCHANGES + 1], async (round, wrong) => {
    const name = `${how.split(' ')[0]}-${round}`;
    const service: Secret = { name, ...(await changes(round).add(name, [], OPERATOR)) };
    await galera.settle();
    const exchangeAt = (at: Instance, code: string): Promise<Answer<{ token: string }>> =>
      exchange({ anyone: at.anyone.with({ authorization: basic(name, service.secret) }) }, code);
    const codeAt = async (at: Instance): Promise<string> =>
      done(await ada.at(at).post<{ code: string }>('/api/auth/code', { audience: name }), 201).code;
    const [kept, ...codes] = await Promise.all(times(EXCHANGES + 1, (i) => codeAt(galera.on(round + i))));
    await galera.settle();

    const ending = end(changes(round), service);
    const answers = await atOnce(
      codes.map((code, i) => () => exchangeAt(galera.on(round + 1 + (i % 3 === 2 ? 1 : 0)), code)),
    );
    await ending;
    await galera.settle();
    const tokens = answers.flatMap(({ status, body }) => (status === 200 ? [body.token] : []));
    const statuses = answers.map(({ status }) => status).filter((status) => status !== 200);
    if (statuses.some((status) => ![400, 401].includes(status)))
      wrong.push(`${round}: ${statuses.join(' ')}`);
    opened += tokens.length;
    refused += statuses.length;

    await renew(changes(round + 1), service);
    await galera.settle();
    for (const token of tokens) {
      for (const { anyone } of galera.instances) {
        const { status } = await anyone.withToken(token).get('/api/me');
        if (status !== 401) wrong.push(`${round}: a session is alive`);
      }
    }
    const next = await exchangeAt(galera.on(round), kept!);
    if (next.status !== 200) wrong.push(`${round}: the service was answered ${next.status} afterwards`);
  });
  // Rounds in which all came before, or all after, would prove nothing.
  expect(opened).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

/** The change on both nodes at once; returns how many were made, where a rule may refuse the others. */
async function madeOnBoth(change: (on: ServiceChanges) => Promise<unknown>): Promise<number> {
  const results = await Promise.allSettled([0, 1].map((node) => change(changes(node))));
  const failures = results
    .filter((result) => result.status === 'rejected')
    .map(({ reason }): unknown => reason);
  expect(failures.filter((failure) => !(failure instanceof RefusedError))).toEqual([]);
  return results.length - failures.length;
}

async function liveSecrets(name: string): Promise<number> {
  await galera.settle();
  const secrets = await commands.at(0).get(ServiceSecretsRepository).findOf(name);
  return secrets.filter(({ revokedAt }) => revokedAt === null).length;
}

it('gives a service two live secrets, and revokes one, whatever two nodes do at the same moment', async () => {
  await expectRounds([ROUNDS, 6], async (round, wrong) => {
    const name = `service-${round}`;
    await changes(round).add(name, [], OPERATOR);
    await galera.settle();

    const rotated = await madeOnBoth((on) => on.rotate(name, OPERATOR));
    const both = await liveSecrets(name);
    const revoked = await madeOnBoth((on) => on.revokeSecret(name, { endSessions: false }, OPERATOR));
    const left = await liveSecrets(name);
    const removed = await madeOnBoth((on) => on.remove(name, OPERATOR));

    const found = [rotated, both, revoked, left, removed, await liveSecrets(name)].join();
    if (found !== '1,2,1,1,2,0') wrong.push(`${name}: ${found}`);
  });
});

async function outcomeOf(work: Promise<{ kind: string }>): Promise<string> {
  try {
    return (await work).kind;
  } catch (error) {
    const isDisabled = error instanceof RefusedError && error.code === 'member_disabled';
    if (isDisabled || error instanceof OnlyOwnerError) return 'refused';
    throw error;
  }
}

function disable({ id }: Account, node: number, force = false): Promise<string> {
  return outcomeOf(commands.at(node).get(UserOperations).disable(id, { actor: OPERATOR, force }));
}

it('makes no owner of a stranger whom another node disables at the same moment', async () => {
  await expectRounds([ROUNDS, 2], async (round, wrong) => {
    const [owner, stranger] = [await anAccount(galera.on(0)), await anAccount(galera.on(0))];
    const org = await anOrgOf(owner);
    expect(await disable(owner, round, true)).toBe('done');
    await galera.settle();

    const making = { orgId: org.id, userId: stranger.id, actor: OPERATOR, force: true };
    const [made, disabled] = await atOnce([
      () => outcomeOf(commands.at(round).get(MembersService).makeOwner(making)),
      () => disable(stranger, round + 1),
    ]);
    await galera.settle();
    const enabledOwners = await countOf(
      galera.db,
      `members m JOIN users u ON u.id = m.user_id
        WHERE m.org_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL`,
      [org.id],
    );
    const outcome = `${made}, ${disabled}, ${enabledOwners} enabled`;
    const inOneOrder = ['done, refused, 1 enabled', 'refused, done, 0 enabled'];
    if (!inOneOrder.includes(outcome)) wrong.push(`${round}: ${outcome}`);
  });
});

it('a client that refreshes during every attempt on another node does not prevent the deletion of its account', async () => {
  const [service, node] = [galera.on(0), commands.at(1)];
  const [user, other] = [await anAccount(service), await anAccount(service)];
  await join(await anOrgOf(other), other, user, 'member');
  let { refreshToken } = await aRefreshableLogin(service, user);
  await galera.settle();
  const events = node.get(EventsRepository, { strict: false });
  const record = events.record.bind(events);
  // In the middle of the transaction.
  const attempts = vi.spyOn(events, 'record').mockImplementation(async (...recorded) => {
    ({ refreshToken } = await refreshed(service, refreshToken));
    await galera.settle();
    await record(...recorded);
  });
  onTestFinished(() => attempts.mockRestore());

  const deletion = { actor: OPERATOR, force: false };
  expect(await node.get(UserDeletion).delete(user.id, deletion)).toEqual({ kind: 'done', answer: [] });

  expect(attempts).toHaveBeenCalledTimes(1);
  await galera.settle();
  expect((await refresh(service, refreshToken)).status).toBe(401);
  for (const table of ['sessions', 'members'])
    expect(await countOf(galera.db, `${table} WHERE user_id = ?`, [user.id])).toBe(0);
  report({ faults: 1, requests: attempts.mock.calls.length, wrong: 0 });
});

it('accepts never both tokens after a first use and a re-issue at once on two nodes', async () => {
  let { refreshToken } = await aRefreshableLogin(galera.on(0), ada);
  const { sessionId } = partsOf(refreshToken);
  let reissued = 0;
  await expectRounds([REFRESHES, 4], async (round, wrong) => {
    const lost = await refreshed(galera.on(round), refreshToken);
    await galera.db.query('UPDATE sessions SET rotated_at = rotated_at - 3600000 WHERE id = ?', [sessionId]);
    await galera.settle();

    const me = ({ token }: Tokens, at: Instance) => at.anyone.withToken(token).get('/api/me');
    const [again] = await Promise.all([
      refreshed(galera.on(round + 1), refreshToken),
      me(lost, galera.on(round)),
    ]);
    await galera.settle();
    ({ refreshToken } = again);
    if (partsOf(refreshToken).generation === partsOf(lost.refreshToken).generation) return;
    reissued += 1;
    for (const instance of galera.instances) {
      const statuses = [(await me(lost, instance)).status, (await me(again, instance)).status];
      if (statuses.join() !== '401,200') wrong.push(`${round}: ${statuses.join()}`);
    }
  });
  expect(reissued).toBeGreaterThan(0);
});

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
  function lag<Known, Found>(
    acknowledge: () => Promise<Known>,
    request: (known: Known) => Promise<Found>,
  ): Promise<Found> {
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

  async function statementsAtTheLagging(): Promise<string[]> {
    const rows = await lagging.execute(
      `SELECT CONCAT(id, ' ', query_id) AS statement FROM information_schema.processlist
        WHERE db = '${new URL(galera.db.url).pathname.slice(1)}' AND command = 'Query' AND info IS NOT NULL`,
    );
    return asRecords(rows).map((row) => asString(row['statement']));
  }

  async function expectLagging<Known, Found>(
    expected: Found,
    acknowledge: () => Promise<Known>,
    request: (what: Known) => Promise<Found>,
  ): Promise<void> {
    const found: Found[] = [];
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

it('counts the failed logins of both nodes exactly, and keeps none of a user who is deleted meanwhile', async () => {
  const [guesses, lateGuesses] = [40, 10];
  const guess = ({ email }: Account, turn: number): Promise<unknown> =>
    logIn(galera.on(turn), { email, password: 'a wrong battery staple' });
  const guessed = 'login_traces WHERE user_id = ? AND failures = ?';
  await expectRounds([TRACES, guesses + lateGuesses + 3], async (round) => {
    const [user, leaving] = [await anAccount(galera.on(round)), await anAccount(galera.on(round + 1))];
    await Promise.all(times(guesses, (turn) => guess(user, turn)));
    await Promise.all([
      ...times(lateGuesses, (turn) => guess(leaving, turn)),
      leaving.delete('/api/me', { password: leaving.password }),
    ]);
    const isCounted = async () => (await countOf(galera.db, guessed, [user.id, String(guesses)])) === 1;
    await waitFor('the failures are counted', hangTimeoutMs(), isCounted);
  });
  const last = await anAccount(galera.on(0));
  await guess(last, 1);
  await waitFor(
    'all is noted',
    hangTimeoutMs(),
    async () => (await countOf(galera.db, guessed, [last.id, '1'])) === 1,
  );
  expect(await countOf(galera.db, 'login_traces WHERE user_id NOT IN (SELECT id FROM users)')).toBe(0);
});

describe('a second factor', () => {
  const rounds = 9;
  const logins = 50;
  const guesses = 40;

  async function statusesAtOnce(account: Account, count: number, code: string): Promise<number[]> {
    const { body } = await logIn(galera.on(0), account);
    const { challenge } = body as unknown as { challenge: string };
    const step = (turn: number) => () =>
      galera.on(turn).anyone.post('/api/auth/login/second-factor', { challenge, code });
    return (await atOnce(times(count, step))).map(({ status }) => status);
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

  it('lets no owner require a second factor without a trace while another node removes the own one', async () => {
    const removals = (turn: number) => commands.at(turn).get(SecondFactorRemoval);
    await expectRounds([REQUIREMENTS, 1], async (round, wrong) => {
      const { account } = await aProtectedAccount(0);
      const org = await anOrgOf(account);
      await galera.settle();
      const requirement = { secondFactorRequiredFrom: '2020-01-01T00:00:00Z' };
      const [set] = await atOnce<Answer | object | undefined>([
        () => account.at(galera.on(round)).patch(`/api/orgs/${org.id}`, requirement),
        () => removals(round + 1).byOperator(account.id, OPERATOR),
      ]);
      await galera.settle();
      const sql =
        "SELECT type FROM events WHERE org_id = ? AND type IN ('org.second_factor_required', 'member.suspended')";
      const types = (await galera.db.query(sql, [org.id])).map(({ type }) => String(type)).toSorted();
      const expected =
        (set as Answer).status === 200 ? ['member.suspended', 'org.second_factor_required'] : [];
      if (String(types) !== String(expected)) wrong.push([(set as Answer).status, types]);
    });
  });

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
