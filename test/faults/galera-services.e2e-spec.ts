import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { UserDeletion } from '../../src/accounts/user-deletion.js';
import { UserOperations } from '../../src/accounts/user-operations.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { MembersService } from '../../src/orgs/members/members.service.js';
import { OnlyOwnerError } from '../../src/orgs/state/orgs.errors.js';
import { RefusedError } from '../../src/problems/problem.js';
import { ServiceChanges } from '../../src/services/service-changes.js';
import { ServiceSecretsRepository } from '../../src/services/service-secrets.repository.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { type Account, anAccount, anOrgOf, join } from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed } from '../support/refreshing.js';
import type { Instance } from '../support/service.js';
import { basic } from '../support/services.js';
import { closeAfterAll, UNLIMITED } from './support/deployment.js';
import { report, expectRounds } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';

const OPERATOR = { kind: 'operator', id: 'test' } as const;
const ROUNDS = 60;
const EXCHANGES = 4;

const galera = await closeAfterAll(GaleraService.start({ nodes: 2, env: UNLIMITED }));
const commands = await closeAfterAll(galera.commands());
const ada = await anAccount(galera.on(0), 'ada');
afterEach(() => galera.settle());

const changes = (turn: number): ServiceChanges => commands.at(turn).get(ServiceChanges);

async function countOf(from: string, id: string): Promise<number> {
  const [row] = await galera.db.query(`SELECT COUNT(*) AS found FROM ${from}`, [id]);
  return Number(row!['found']);
}

interface Secret {
  name: string;
  id: string;
  secret: string;
}

interface Ending {
  how: string;
  end: (by: ServiceChanges, secret: Secret) => Promise<unknown>;
  /** what a new token is opened with afterwards */
  renew: (by: ServiceChanges, secret: Secret) => Promise<string>;
}

const ENDINGS: Ending[] = [
  {
    how: 'is disabled',
    end: (by, { name }) => by.disable(name, OPERATOR),
    renew: async (by, { name, secret }) => {
      await by.enable(name, OPERATOR);
      return secret;
    },
  },
  {
    how: 'has its sessions ended with its secret',
    end: (by, { name, id }) => by.revokeSecret(name, { secretId: id, endSessions: true }, OPERATOR),
    renew: async (by, { name }) => (await by.rotate(name, OPERATOR)).secret,
  },
];

async function aCodeFor(audience: string, at: Instance): Promise<string> {
  const { status, body, text } = await ada.at(at).post<{ code: string }>('/api/auth/code', { audience });
  expect(status, text).toBe(201);
  return body.code;
}

it.each(ENDINGS)(
  'leaves no session alive of a service that $how on another node',
  async ({ how, end, renew }) => {
    let [opened, refused] = [0, 0];
    await expectRounds([ROUNDS, EXCHANGES + 1], async (round, wrong) => {
      const name = `${how.split(' ')[0]}-${round}`;
      const { id, secret } = await changes(round).add(name, [], OPERATOR);
      await galera.settle();
      const exchange = (code: string, by: string, at: Instance): Promise<Answer<{ token: string }>> =>
        at.anyone.with({ authorization: basic(name, by) }).post('/api/auth/code/exchange', { code });
      const [kept, ...codes] = await Promise.all(
        times(EXCHANGES + 1, (i) => aCodeFor(name, galera.on(round + i))),
      );
      await galera.settle();

      const ending = async (): Promise<undefined> => void (await end(changes(round), { name, id, secret }));
      const [, ...answers] = await atOnce<Answer<{ token: string }> | undefined>([
        ending,
        ...codes.map((code, i) => () => exchange(code, secret, galera.on(round + 1 + (i % 3 === 2 ? 1 : 0)))),
      ]);
      await galera.settle();
      const tokens = answers.flatMap((answer) => (answer?.status === 200 ? [answer.body.token] : []));
      const statuses = answers.map((answer) => answer?.status ?? 0).filter((status) => status !== 200);
      if (statuses.some((status) => ![400, 401].includes(status)))
        wrong.push(`${round}: ${statuses.join(' ')}`);
      opened += tokens.length;
      refused += statuses.length;

      const renewed = await renew(changes(round + 1), { name, id, secret });
      await galera.settle();
      for (const token of tokens) {
        const alive = await Promise.all(
          galera.instances.map(({ anyone }) => anyone.withToken(token).get('/api/me')),
        );
        if (alive.some(({ status }) => status !== 401)) wrong.push(`${round}: a session is alive`);
      }
      const next = await exchange(kept!, renewed, galera.on(round));
      if (next.status !== 200) wrong.push(`${round}: the service was answered ${next.status} afterwards`);
    });
    // Rounds in which all came before, or all after, would prove nothing.
    expect(opened).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  },
);

/** The change on both nodes at once; returns how many were made, where a rule may refuse the others. */
async function madeOnBoth(change: (on: ServiceChanges) => Promise<unknown>): Promise<number> {
  const results = await Promise.allSettled([0, 1].map((node) => change(changes(node))));
  const failures = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
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

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    return (await work) ? 'done' : 'not done';
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
      `members m JOIN users u ON u.id = m.user_id
        WHERE m.org_id = ? AND m.role = 'owner' AND u.disabled_at IS NULL`,
      org.id,
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
  expect(await node.get(UserDeletion).delete(user.id, deletion)).toEqual([]);

  expect(attempts).toHaveBeenCalledTimes(1);
  await galera.settle();
  expect((await refresh(service, refreshToken)).status).toBe(401);
  for (const table of ['sessions', 'members'])
    expect(await countOf(`${table} WHERE user_id = ?`, user.id)).toBe(0);
  report({ faults: 1, requests: attempts.mock.calls.length, wrong: 0 });
});
