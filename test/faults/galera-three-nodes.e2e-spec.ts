import { afterEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, untrueClaims } from '../support/accounts-command.js';
import { atOnce, times } from '../support/at-once.js';
import { alreadyInvited, invalidEmailCode } from '../support/expected.js';
import {
  accept,
  anInvitation,
  aVerifiedAccount,
  invite,
  revoke,
  roleOf,
  rowOf,
} from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import {
  type Account,
  aCode,
  anAccount,
  anEmail,
  anOrgOf,
  anOrgWithTwoOwners,
  aPassword,
  type Cast,
  exchange,
  join,
  logIn,
} from '../support/personas.js';
import { closeAfterAll, closeAfterTest, countOf, UNLIMITED } from './support/deployment.js';
import { expectRounds, report } from './support/figures.js';
import { GaleraService, twoOwners } from './support/galera-service.js';
import type { Answer } from '../support/answer.js';
import { aRefreshableLogin, partsOf, refresh, refreshed, type Tokens } from '../support/refreshing.js';
import type { Instance, Service } from '../support/service.js';
import { sessionIdOf } from '../support/signing-keys.js';
import type { Caller } from '../support/caller.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { anOrgPurge } from '../support/clean-up.js';
import { aheadBy } from '../support/clock.js';
import { aDataSource } from '../support/data-source.js';
import { raceWithDeletion } from '../support/deletion-race.js';
import { aServiceClient } from '../support/services.js';
import { faultsAtTheEnd, FeedReader } from './support/feed-reader.js';

const ROUNDS = 200;
const REPETITIONS = 20;
const CLIENTS = 50;
const DISABLINGS = 8;
const MAX_CODE_TRIES = 10_000_000;
const LAST_TRIES = 48;

const galera = await closeAfterAll(GaleraService.start({ ownNode: 2, env: UNLIMITED }));
afterEach(() => galera.settle());
const on = (turn: number): Instance => galera.on(turn);
const { db, installation } = galera;

/** Locks of one node are none of another: what decides has to be written. */
describe('invitations on three nodes that all write', async () => {
  const owner = await anAccount(on(0), 'owner');
  let admin = await anAccount(on(0), 'admin');
  const guest = await aVerifiedAccount(on(0), 'guest');
  const org = await anOrgOf(owner);

  const remove = (who: Account, turn = 0) =>
    owner.at(on(turn)).delete(`/api/orgs/${org.id}/members/${who.id}`);

  /** A request that lost against others every time has done nothing, and says so. */
  async function settled<A extends { status: number }>(request: () => Promise<A>): Promise<A> {
    const answer = await request();
    return answer.status === 503 ? settled(request) : answer;
  }

  it(
    `accepting against revoking against the removal of the inviter, ${ROUNDS} times: one end, and a member only where it was accepted`,
    { timeout: 600_000 },
    async () => {
      const ends = new Map<string, number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        await join(org, owner, admin, 'admin');
        const invitation = await anInvitation(admin.at(on(round)), org, { email: guest.email });

        const answers = await atOnce([
          () => settled(() => accept(guest.at(on(round)), invitation)),
          () => settled(() => revoke(owner.at(on(round + 1)), org, invitation)),
          () => settled(() => remove(admin, round + 2)),
        ]);

        const { status, pending } = await rowOf(db, invitation);
        const isMember = (await roleOf(db, org, guest)) !== undefined;
        const [accepted, revoked, removed] = answers.map((answer) => answer.status);
        const said = `round ${round}: accept, revoke, remove answered ${[accepted, revoked, removed].join()}`;
        expect(removed, said).toBe(200);
        expect([200, 409], said).toContain(accepted);
        expect([200, 409], said).toContain(revoked);
        expect([pending, status, isMember], said).toEqual(
          accepted === 200 ? [null, 'accepted', true] : [null, 'revoked', false],
        );
        ends.set(String(status), (ends.get(String(status)) ?? 0) + 1);
        if (isMember) await settled(() => remove(guest));
      }
      console.info(Object.fromEntries(ends));
      report({ faults: ROUNDS, requests: 3 * ROUNDS, wrong: 0 });
      await galera.settle();
      expect(await untrueClaims(installation)).toEqual([]);
    },
  );

  it(`${CLIENTS} invitations of one e-mail make one`, async () => {
    const email = anEmail();
    const invitation = (client: number) => () => settled(() => invite(owner.at(on(client)), org, { email }));
    const answers = await atOnce(times(CLIENTS, invitation));

    const others = answers.filter(({ status }) => status !== 201);
    expect(others).toHaveLength(CLIENTS - 1);
    for (const answer of others) expect(answer).toMatchObject(alreadyInvited);
  });

  it('nothing is pending of an inviter who is disabled while he invites', { timeout: 300_000 }, async () => {
    for (let round = 0; round < DISABLINGS; round += 1) {
      await join(org, owner, admin, 'admin').catch(() => undefined);
      const over = new AbortController();
      const disabling = accounts(installation, ['users', 'disable', admin.id]).finally(() => over.abort());
      let invited = 0;
      for (let number = 0; !over.signal.aborted; number += 1) {
        const { status } = await invite(admin.at(on(number)), org, { email: anEmail() });
        if (status === 201) invited += 1;
      }
      expect(await disabling).toMatchObject({ code: 0 });
      await galera.settle();
      const pending = await countOf(db, 'invitations WHERE invited_by = ? AND pending = 1', [admin.id]);
      expect(pending, `round ${round}, ${invited} invitations`).toBe(0);
      await accounts(installation, ['users', 'enable', admin.id]);
      admin = admin.as((await logIn(on(0), admin)).body.token);
    }
    expect(await untrueClaims(installation)).toEqual([]);
  });
});

describe('mail on three nodes that all write', async () => {
  const mailServer = await closeAfterAll(MailServer.start());
  const env = { ...UNLIMITED, RATE_LIMIT_FORGOT: 'off', RATE_LIMIT_CODE: 'off', ...mailServer.env };
  const mailing = await closeAfterAll(galera.startFresh(env));

  const at = (turn: number) => mailing.instances[turn % mailing.instances.length]!;
  const forgot = (turn: number, email: string) =>
    at(turn).anyone.post('/api/auth/password/forgot', { email });
  const reset = (turn: number, email: string, code: string) =>
    at(turn).anyone.post('/api/auth/password/reset', { email, code, newPassword: aPassword() });

  it('sends each once', async () => {
    const emails: string[] = [];
    while (emails.length < 24) emails.push((await anAccount(at(emails.length))).email);
    await Promise.all(emails.map((email, turn) => forgot(turn + 1, email)));
    for (const email of emails) await mailServer.next(email);
    await waitFor('all are noted as sent', hangTimeoutMs(), async () => {
      return (await countOf(mailing.db, "mails WHERE state = 'waiting'")) === 0;
    });

    const sent = mailServer.mails.map(({ to }) => to).filter((to) => emails.includes(to));
    expect(sent.toSorted()).toEqual(emails.toSorted());
  });

  it('lets a code work once, and counts each wrong try of any node', async () => {
    const [one, other] = [(await anAccount(at(0))).email, (await anAccount(at(1))).email];
    for (const email of [one, other]) await forgot(2, email);
    const { code } = await mailServer.next(one);

    const answers = await Promise.all(times(6, (turn) => reset(turn, one, code!)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);

    const right = (await mailServer.next(other)).code!;
    await mailing.db.query('UPDATE email_codes SET tries = ? WHERE subject = ?', [
      MAX_CODE_TRIES - LAST_TRIES,
      other,
    ]);
    let counted = 0;
    while (counted < LAST_TRIES) {
      const wrong = times(3, (turn) => reset(turn, other, '0000000000'));
      counted += (await Promise.all(wrong)).filter(({ status }) => status === 400).length;
    }
    expect(await reset(0, other, right)).toMatchObject(invalidEmailCode);
    await galera.settle();
  });
});

/** The statuses of a token at every instance. */
async function everywhere({ token }: { token: string }): Promise<string> {
  const answers = await Promise.all(
    galera.instances.map(({ anyone }) => anyone.withToken(token).get('/api/me')),
  );
  return answers.map(({ status }) => status).join(' ');
}

it('leaves no session of the old password alive when a login races the change on another node', async () => {
  const rounds = 200;
  let late = 0;
  const ada = await anAccount(on(0), 'ada');
  let { password } = ada;
  await expectRounds([rounds, 3], async (round, wrong) => {
    const newPassword = aPassword();
    const body = { currentPassword: password, newPassword };
    const login = () => logIn(on(round + 1), { email: ada.email, password }, { refresh: true });
    const [changed, ...logins] = (await atOnce<Answer>([
      () => ada.at(on(round)).put('/api/me/password', body),
      login,
      login,
    ])) as [Answer, ...Answer<Tokens>[]];

    if (changed.status !== 200) wrong.push(`${round}: changed ${changed.status}`);
    for (const { status, body: tokens } of logins) {
      if (![200, 401].includes(status)) wrong.push(`${round}: logged in ${status}`);
      if (status !== 200) continue;
      late += 1;
      const statuses = await everywhere(tokens);
      if (statuses !== '401 401 401') wrong.push(`${round}: alive ${statuses}`);
      const again = await refresh(on(round + 2), tokens.refreshToken);
      if (again.status !== 401) wrong.push(`${round}: refreshed ${again.status}`);
    }
    password = newPassword;
  });
  // Rounds in which no login came before or between would prove nothing.
  expect(late).toBeGreaterThan(rounds / 10);
  expect(await everywhere(ada)).toBe('200 200 200');
});

it('takes one step for 50 refreshes at once on three nodes, and each answer is usable', async () => {
  const windows = 50;
  const ada = await anAccount(on(0), 'ada');
  let { refreshToken } = await aRefreshableLogin(on(0), ada);
  await expectRounds([10, 2 * windows], async (round, wrong) => {
    const { sessionId, generation } = partsOf(refreshToken);
    const answers = await atOnce(times(windows, (window) => () => refresh(on(window), refreshToken)));
    const sql = 'SELECT refresh_generation FROM sessions WHERE id = ?';
    const [row] = await galera.db.query(sql, [sessionId]);
    if (Number(row!['refresh_generation']) !== generation + 1) wrong.push(`${round}: not one step`);
    for (const [place, { status, body }] of answers.entries()) {
      // A node may be too busy with conflicts to answer; it must not be wrong.
      if (status !== 200) wrong.push(`${round}: ${status}`);
      else if (partsOf(body.refreshToken).generation !== generation + 1) wrong.push(`${round}: another step`);
      else if (
        (
          await ada
            .at(on(place + 1))
            .as(body.token)
            .get('/api/me')
        ).status !== 200
      )
        wrong.push(`${round}: not usable`);
    }
    refreshToken = answers.find(({ status }) => status === 200)!.body.refreshToken;
  });
});

it('leaves no session alive that a code opens while the login that issued it is ended on another node', async () => {
  let opened = 0;
  const ada = await anAccount(on(0), 'ada');
  const endings: ((login: Account, round: number) => Promise<Answer>)[] = [
    (login, round) => login.at(on(round)).post('/api/auth/logout'),
    (login, round) => ada.at(on(round)).delete(`/api/me/sessions/${sessionIdOf(login)}`),
    (_login, round) => ada.at(on(round)).delete('/api/me/sessions'),
  ];
  await expectRounds([60, 4], async (round, wrong) => {
    const tokens = await aRefreshableLogin(on(round), ada);
    const login = ada.as(tokens.token);
    const codes = await Promise.all(times(3, (i) => aCode(login.at(on(round + i)))));
    const [ended, ...exchanged] = (await atOnce<Answer>([
      () => endings[round % endings.length]!(login, round),
      ...codes.map((code, i) => () => exchange(on(round + i), code)),
    ])) as [Answer, ...Answer<{ token: string }>[]];

    if (ended.status !== 200) wrong.push(`${round}: ended ${ended.status}`);
    for (const { status, body } of exchanged) {
      if (![200, 400].includes(status)) wrong.push(`${round}: exchanged ${status}`);
      if (status !== 200) continue;
      opened += 1;
      const statuses = await everywhere(body);
      if (statuses !== '401 401 401') wrong.push(`${round}: alive ${statuses}`);
    }
    if ((await refresh(on(round + 1), tokens.refreshToken)).status !== 401) wrong.push(`${round}: refreshed`);
  });
  expect(opened).toBeGreaterThan(0);
  expect(await everywhere(ada)).toBe('200 200 200');
});

it('leaves one session where two end all others at once on two nodes', async () => {
  await expectRounds([40, 2], async (round, wrong) => {
    const ada = await anAccount(on(round), 'ada');
    const { refreshToken } = await aRefreshableLogin(on(round), ada);
    const both = [ada, ada.as((await refreshed(on(round), refreshToken)).token)];
    const answers = await atOnce(
      both.map((who, i) => () => who.at(on(round + i)).delete('/api/me/sessions')),
    );
    const statuses = answers.map(({ status }) => status);
    const alive = await Promise.all(both.map(everywhere));
    // The client that got the last 200 is the one that stays.
    if (alive.filter((text) => text === '200 200 200').length !== 1) wrong.push(`${round}: ${alive.join()}`);
    if (!statuses.includes(200) || statuses.some((one) => ![200, 401].includes(one)))
      wrong.push(`${round}: ${statuses.join(' ')}`);
  });
});

const membersOf = ({ org }: Cast) => `/api/orgs/${org.id}/members`;

it.each<[string, (by: Caller, cast: Cast) => Promise<Answer>]>([
  ['create an organization', (by) => by.post('/api/orgs', { name: 'Once' })],
  ['add a member', (by, cast) => by.post(membersOf(cast), { email: cast.outsider.email, role: 'member' })],
  ['change a member', (by, cast) => by.patch(`${membersOf(cast)}/${cast.member.id}`, { role: 'admin' })],
  ['leave', (by, cast) => by.delete(`${membersOf(cast)}/${cast.owner.id}`)],
])('equal requests with one key %s once, with equal answers', async (_name, send) => {
  await expectRounds([REPETITIONS, 6], async (round, wrong) => {
    const cast = await anOrgWithTwoOwners(galera.on(round));
    const by = (i: number) => cast.owner.at(galera.on(i)).with({ 'idempotency-key': `round-${round}` });
    await galera.settle();
    const known = new Set((await galera.db.query('SELECT id FROM events')).map(({ id }) => id));
    const answers = await atOnce(times(6, (i) => () => send(by(i), cast)));
    // Too many conflicts are a fault that says so; repeated, such a request has its answer.
    const final = await Promise.all(
      answers.map(async (answer, i) => (answer.status === 503 ? send(by(i), cast) : answer)),
    );
    const told = new Set(final.map(({ status, text }) => `${status} ${text}`));
    await galera.settle();
    const events = await galera.db.query("SELECT id FROM events WHERE type LIKE 'member.%'");
    const made = events.filter(({ id }) => !known.has(id)).length;
    if (told.size !== 1 || final[0]!.status >= 300 || made !== 1) wrong.push([...told, made]);
  });
});

it('one of 20 writers wins for each revision', async () => {
  const cast = await anOrgWithTwoOwners(galera.on(0));
  const path = `/api/orgs/${cast.org.id}`;
  const ownerAt = (i: number) => cast.owner.at(galera.on(i));
  const tagAt = async (i: number) => (await ownerAt(i).get(path)).headers.get('etag')!;
  let tag = await tagAt(0);
  await expectRounds([REPETITIONS, 20], async (round, wrong) => {
    const write = (i: number) =>
      ownerAt(i)
        .with({ 'if-match': tag })
        .patch(path, { name: `Round ${round}, writer ${i}` });
    const statuses = (await atOnce(times(20, (i) => () => write(i)))).map(({ status }) => status);
    const next = await tagAt(round);
    const isNext = next === `"${Number(tag.slice(1, -1)) + 1}"`;
    const isKnown = statuses.every((status) => [200, 412, 503].includes(status));
    if (statuses.filter((status) => status === 200).length !== 1 || !isNext || !isKnown)
      wrong.push([tag, next, ...statuses]);
    tag = next;
  });
});

const AHEAD_MS = 31 * 86_400_000;
const ORGS = 4;
const CHANGES = 100;

type Move = (who: Account, other: Account, org: string) => Promise<Answer>;

const broken = (): Promise<string[]> => galera.broken();

it('hands no organization over to somebody who is disabled on another node at the same moment', async () => {
  const rounds = 12;
  const began = performance.now();
  await accounts(galera.installation, ['users', 'show', 'nobody@example.com'], { env: galera.env(1) });
  const usualMs = performance.now() - began;
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const [owner, member] = [await anAccount(on(0)), await anAccount(on(1))];
    const org = await anOrgOf(owner);
    await join(org, owner, member, 'member');
    const disabling = accounts(galera.installation, ['users', 'disable', member.id], { env: galera.env(1) });
    await sleep(usualMs * (0.7 + (0.6 * round) / rounds));
    const transfer = owner.post(`/api/orgs/${org.id}/transfer`, { userId: member.id, leave: true });
    const [{ status }, { code }] = await Promise.all([transfer, disabling]);
    const outcome = `${status} ${code}`;
    if (!['200 1', '409 0'].includes(outcome)) wrong.push(outcome);
  };
  await expectRounds([rounds, 2], race, broken);
});

it('lets a deletion and a change of a member on another node both happen in one order', async () => {
  const outsider = await anAccount(on(0));
  const changes: Move[] = [
    (who, _, org) => who.post(`${org}/members`, { email: outsider.email, role: 'member' }),
    (who, _, org) => who.post(`${org}/leave`),
    (who, _, org) => who.delete(org),
    (who, _, org) => who.patch(org, { name: 'Renamed' }),
    (who, _, org) => who.post(`${org}/restore`),
  ];
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const { org, owners } = await twoOwners(on, round);
    const [alice, bob] = owners;
    const path = `/api/orgs/${org.id}`;
    const change = changes[round % changes.length]!;
    const [deletion, answer] = await atOnce([() => alice.delete(path), () => change(bob, alice, path)]);
    if (![200, 403, 404].includes(deletion!.status)) wrong.push(`deletion: ${deletion!.status}`);
    if (![200, 201, 403, 404, 409].includes(answer!.status)) wrong.push(`change: ${answer!.status}`);
  };
  await expectRounds([30, 2], race, broken);
});

it('answers an invitation on one node and deletes its organization on another in one order', async () => {
  const first = new Set<string>();
  const settle = () => galera.settle();
  const race = async (round: number, wrong: unknown[]): Promise<void> => {
    const [answering, deleting] = [on(round), on(round + 1)];
    const outcome = await raceWithDeletion({ db, answering, deleting, round, settle });
    if (outcome !== 'answer' && outcome !== 'deletion') wrong.push(outcome);
    first.add(outcome);
  };
  await expectRounds([84, 2], race, broken);
  expect(first.size).toBe(2);
});

it('restores on one node all of what another purges, or nothing', async () => {
  const env = { ...installation.env, ...galera.env(1) };
  const purging = await aDataSource({ ...installation, env });
  const race = async (_: number, wrong: unknown[]): Promise<void> => {
    const { org, owners } = await twoOwners(on, 0);
    await owners[0].delete(`/api/orgs/${org.id}`);
    const restoring = owners[1].at(on(0));
    const purge = anOrgPurge(purging);
    const now = Date.now() + AHEAD_MS;
    const restored = restoring.post(`/api/orgs/${org.id}/restore`);
    const [{ status }] = await Promise.all([restored, purge.purgeBatch(now)]);
    await galera.settle();
    const there = await countOf(db, 'orgs WHERE id = ? AND deleted_at IS NULL', [org.id]);
    const found = `${there} ${await countOf(db, 'members WHERE org_id = ?', [org.id])}`;
    if (found !== (status === 200 ? '1 2' : '0 0')) wrong.push(`${status}: ${found}`);
  };
  await expectRounds([20, 1], race, broken);
  await purging.destroy();
});

it('readers at both nodes hear what two owners of each organization change on both nodes at once', async () => {
  // Or the order of ids, by one clock, would nearly be that of the changes.
  const envs = [{}, { NODE_OPTIONS: aheadBy(1000) }];
  const { db: fresh, instances } = await closeAfterTest(galera.startFresh(UNLIMITED, envs));
  const at = (turn: number): Service => instances[turn % 2]!;
  const billing = await aServiceClient(fresh, ['events']);
  await galera.settle();
  const readers = instances.flatMap((instance) => times(2, () => new FeedReader(billing, instance)));

  const teams = await Promise.all(times(ORGS, (turn) => twoOwners(at, turn)));
  await galera.settle();
  let acknowledged = 0;
  const changeOften = async (owner: Account, place: number, path: string): Promise<void> => {
    const member = await anAccount(at(place));
    for (let turn = 0; turn < CHANGES; turn += 1) {
      const status = await nextChange(owner.at(at(place)), member, path, turn);
      if (status === 200 || status === 201) acknowledged += 1;
    }
  };
  const changing = teams.flatMap(({ org, owners }) =>
    owners.map((owner, place) => changeOften(owner, place, `/api/orgs/${org.id}`)),
  );
  await Promise.all(changing);
  for (const reader of readers) await reader.end();
  await galera.settle();

  const faults = await faultsAtTheEnd(fresh, readers);
  const requests = 2 * ORGS * CHANGES;
  report({ faults: 0, requests, acknowledged, wrong: faults.length, lost: 0 });
  expect(faults).toEqual([]);
  for (const { ids } of readers) expect(ids).toEqual(readers[0]!.ids);
  expect(acknowledged).toBeGreaterThan(requests / 2);
  expect(readers[0]!.heard.length).toBeGreaterThanOrEqual(acknowledged);
});

async function nextChange(owner: Account, member: Account, path: string, turn: number): Promise<number> {
  const moves = [
    () => owner.post(`${path}/members`, { email: member.email, role: 'member' }),
    () => owner.patch(`${path}/members/${member.id}`, { role: 'admin' }),
    () => owner.patch(path, { name: `${turn} ${owner.id}` }),
    () => owner.delete(`${path}/members/${member.id}`),
  ];
  return (await moves[turn % moves.length]!()).status;
}
