import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { verified } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { type CreatedKey, keysPath, makeKey, OWN_KEYS } from '../support/org-keys.js';
import { removeMember } from '../support/org-members.js';
import { type Account, anAccount, anOrgOf, join, type Org } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { clientOf, type Reply } from '../support/service-client.js';
import { aServiceClient, ServiceCaller } from '../support/services.js';
import {
  askOf,
  closeAfterAll,
  closeAfterTest,
  countOf,
  ENGINES,
  register,
  startInstance,
  startInstances,
  stopAll,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { expectRounds, report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { Random, seedOfRun } from './support/random.js';
import { StoppableService } from './support/stopped-process.js';

const ROUNDS = 200;
const CLIENTS = 60;
const MAX_OWN_KEYS = 50;
/** The longest by which one side of a race begins before the other. */
const LEAD_MS = 20;

/** A round of the feed begins with it, after the COMMIT that it follows. */
const NEXT_ROUND = 'SELECT MAX(n.seq)';

describe.each(ENGINES)('kill -9 on %s', { timeout: 300_000 }, (engine) => {
  const quoted = (table: string): string => (engine === 'sqlite' ? `"${table}"` : `\`${table}\``);
  const [insertKey, insertMail, deleteKey] = [
    `INSERT INTO ${quoted('api_keys')}`,
    `INSERT INTO ${quoted('mails')}`,
    `DELETE FROM ${quoted('api_keys')}`,
  ];

  it.each([
    ['a user', 'UPDATE users SET revision', []],
    ['an organization', 'UPDATE orgs SET revision', ['INSERT INTO idempotency_keys']],
  ])(
    'before any write of the creation, the revocation or the report of an API key (of %s), or after it, leaves all of it or nothing',
    async (whose, raise, keptAnswer) => {
      const mailServer = await closeAfterTest(MailServer.start());
      const storage = await closeAfterTest(Storage.on(engine));
      const stopped = await StoppableService.on(storage, mailServer.env);
      const { url } = stopped.process;
      const [send, ask] = [clientOf(url), askOf(clientOf(url))];
      const billing = await aServiceClient(storage.installation.db, ['keys']);
      const wish = { name: 'nightly export', audience: billing.name };

      const aUser = async () => {
        const { id, token } = await verified(storage.installation.db, await register(send));
        if (whose === 'a user') return { id, token, path: OWN_KEYS };
        const { org } = await ask<{ org: Org }>(201, 'POST', '/api/orgs', { name: 'Killed' }, token);
        return { id, token, path: keysPath(org) };
      };
      type User = Awaited<ReturnType<typeof aUser>>;
      const count = (from: string, user: User): Promise<number> => countOf(storage, from, [user.id]);
      const told = (type: string) => `events WHERE type = '${type}' AND user_id = ?`;
      const mailed = (kind: string) => `mails WHERE kind = '${kind}' AND sender_id = ?`;
      const stateOf = async (user: User) => ({
        rows: await count('api_keys WHERE user_id = ?', user),
        created: await count(told('key.created'), user),
        revoked: await count(told('key.revoked'), user),
        mails: [await count(mailed('key_created'), user), await count(mailed('key_reported'), user)],
      });
      /** Stops the process before each of the statements in turn, and kills it before the last one. */
      const killBefore = async (
        texts: string[],
        change: () => Promise<Reply>,
      ): Promise<Reply | undefined> => {
        let answer: Promise<Reply | undefined> | undefined;
        for (const text of texts) {
          stopped.stopBefore(text);
          if (answer) stopped.process.thaw();
          answer ??= change().catch(() => undefined);
          await stopped.untilStopped();
        }
        await stopped.process.kill();
        await stopped.process.start();
        return answer;
      };
      // Only behind the raise is a COMMIT that of the change.
      const before = (...writes: string[]): string[][] => [
        [raise],
        ...[...writes, 'COMMIT'].map((text) => [raise, text]),
        [raise, 'COMMIT', NEXT_ROUND],
      ];

      const wrong: unknown[] = [];
      let [faults, acknowledged, lost, done] = [0, 0, 0, 0];
      const note = (reply: Reply | undefined, isDone: boolean): void => {
        faults += 1;
        if (reply) acknowledged += 1;
        if (reply && !isDone) lost += 1;
        if (isDone) done += 1;
      };
      for (const texts of before(insertKey, 'INSERT INTO events', insertMail, ...keptAnswer)) {
        const user = await aUser();
        const headers = { 'Idempotency-Key': randomUUID() };
        const make = () => send('POST', user.path, { token: user.token, body: wish, headers });
        const reply = await killBefore(texts, make);
        const state = await stateOf(user);
        const made = state.rows;
        note(reply, made === 1);
        const isWhole = state.created === made && state.mails[0] === made && made <= 1;
        if (!isWhole || (reply && reply.status !== 201)) wrong.push(['made', texts, reply?.status, state]);
        // A kept answer makes no second key.
        const [again, afterwards] = [await make(), await stateOf(user)];
        const expected = whose === 'a user' ? made + 1 : 1;
        if (again.status !== 201 || afterwards.rows !== expected || afterwards.created !== expected)
          wrong.push(['made again', texts, again.status, afterwards]);
      }
      for (const how of ['revoked', 'reported']) {
        for (const texts of before(
          deleteKey,
          'INSERT INTO events',
          ...(how === 'reported' ? [insertMail] : []),
        )) {
          const user = await aUser();
          const { apiKey, key } = await ask<CreatedKey>(201, 'POST', user.path, wish, user.token);
          const reportIt = () => send('POST', '/api/keys/revoke', { body: { key } });
          const revoke = () => send('DELETE', `${user.path}/${apiKey.id}`, { token: user.token });
          const reply = await killBefore(texts, how === 'revoked' ? revoke : reportIt);
          const state = await stateOf(user);
          const ended = 1 - state.rows;
          note(reply, ended === 1);
          const isWhole = state.revoked === ended && state.mails[1] === (how === 'reported' ? ended : 0);
          if (!isWhole || (reply && reply.status !== 200)) wrong.push([how, texts, reply?.status, state]);
          const [again, afterwards] = [await reportIt(), await stateOf(user)];
          if (again.status !== 200 || afterwards.rows !== 0 || afterwards.revoked !== 1)
            wrong.push([how, 'and reported', texts, again.status, afterwards]);
        }
      }
      report({ faults, wrong: wrong.length, acknowledged, lost });
      expect(wrong).toEqual([]);
      expect(lost).toBe(0);
      // After the COMMIT of each of the three changes.
      expect(done).toBe(3);
    },
  );
});

it.each(ENGINES)('a mail server that is down delays only the emails about API keys on %s', async (engine) => {
  const port = await freePort();
  const storage = await closeAfterTest(Storage.on(engine));
  const env = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'no-reply@accounts.example' };
  const service = await closeAfterTest(startInstance(storage.installation, { ...UNLIMITED, ...env }));
  const billing = await aServiceClient(storage.installation.db, ['keys']);
  const user = await verified(storage.installation.db, await anAccount(service));
  const paths = [OWN_KEYS, keysPath(await anOrgOf(user))];
  const statuses: number[] = [];
  for (const path of paths) {
    const made = await makeKey(user, path, billing);
    const reported = await service.anyone.post('/api/keys/revoke', { key: made.body.key });
    statuses.push(made.status, reported.status);
  }
  expect(statuses).toEqual([201, 200, 201, 200]);
  expect(await countOf(storage, "mails WHERE state = 'waiting'")).toBe(4);
  expect(await countOf(storage, 'api_keys')).toBe(0);
  const mailServer = await closeAfterTest(MailServer.start({ port }));
  await mailServer.next(user.email, 4);
  const subjects = mailServer.to(user.email).map(({ subject }) => subject);
  expect(new Set(subjects).size).toBe(2);
  report({ faults: 1, requests: statuses.length, wrong: 0 });
});

async function expectExactCount(
  instances: readonly Instance[],
  db: Storage['installation']['db'],
  settle: () => Promise<void>,
): Promise<void> {
  const billing = await aServiceClient(db, ['keys']);
  await settle();
  await expectRounds([5, CLIENTS], async (round, wrong) => {
    const at = (turn: number): Instance => instances[turn % instances.length]!;
    const user = await anAccount(at(round));
    await settle();
    const answers = await atOnce(
      times(CLIENTS, (client) => () => makeKey(user.at(at(client)), OWN_KEYS, billing)),
    );
    await settle();
    const statuses = answers.map(({ status }) => status);
    const made = statuses.filter((status) => status === 201).length;
    const refused = statuses.filter((status) => status === 409).length;
    const kept = await countOf(db, 'api_keys WHERE user_id = ?', [user.id]);
    const told = await countOf(db, "events WHERE type = 'key.created' AND user_id = ?", [user.id]);
    const expected = [MAX_OWN_KEYS, CLIENTS - MAX_OWN_KEYS, MAX_OWN_KEYS, MAX_OWN_KEYS];
    const found = [made, refused, kept, told];
    if (found.join() !== expected.join()) wrong.push([...found, statuses.join()]);
  });
}

it(`${CLIENTS} creations at once on three instances make ${MAX_OWN_KEYS} API keys`, async () => {
  const { installation } = await closeAfterTest(Storage.on('mariadb'));
  const instances = await startInstances(
    installation,
    times(3, () => UNLIMITED),
  );
  await closeAfterTest({ stop: () => stopAll(instances) });
  await expectExactCount(instances, installation.db, async () => undefined);
});

describe('on two Galera nodes', { timeout: 300_000 }, async () => {
  const galera = await closeAfterAll(GaleraService.start({ nodes: 2, env: UNLIMITED }));
  const { db } = galera;
  const billing = await aServiceClient(db, ['keys', 'introspect']);
  const owner = await anAccount(galera.on(0));
  const org = await anOrgOf(owner);
  await galera.settle();
  const random = new Random(seedOfRun('races of API keys'));
  const isActive = async (turn: number, key: string): Promise<boolean> => {
    const { body } = await new ServiceCaller(galera.on(turn), billing).introspect<{ active: boolean }>({
      token: key,
    });
    return body.active;
  };

  it(`${CLIENTS} creations at once on three instances make ${MAX_OWN_KEYS} API keys`, async () => {
    const third = await closeAfterTest(
      startInstance(galera.installation, { ...UNLIMITED, ...galera.env(0) }),
    );
    await expectExactCount([...galera.instances, third], db, () => galera.settle());
  });

  type End = (maker: Account, turn: number) => Promise<Answer>;
  it.each<[how: string, end: End, keysLeft: 'kept' | 'gone']>([
    ['is removed', (maker, turn) => removeMember(owner.at(galera.on(turn)), org, maker), 'kept'],
    [
      'deletes the account',
      (maker, turn) => maker.at(galera.on(turn)).delete('/api/me', { password: maker.password }),
      'gone',
    ],
  ])('an API key is made before its maker %s, or not at all', async (_, end, keysLeft) => {
    let [madeFirst, endedFirst] = [0, 0];
    // What is slower begins earlier in some rounds: the end may wait for the hash of a password.
    let tookMs = LEAD_MS;
    await expectRounds([ROUNDS, 5], async (round, wrong) => {
      const maker = await anAccount(galera.on(round));
      await join(org, owner.at(galera.on(round)), maker, 'admin');
      await galera.settle();
      const leadMs = random.between(-LEAD_MS, tookMs);
      const make = async (path: string) => {
        await sleep(Math.max(leadMs, 0));
        return makeKey(maker.at(galera.on(round)), path, billing);
      };
      const endIt = async () => {
        await sleep(Math.max(-leadMs, 0));
        const begun = performance.now();
        const answer = await end(maker, round + 1);
        tookMs = Math.ceil(performance.now() - begun);
        return answer;
      };
      const [own, made, ended] = await atOnce<Answer>([
        () => make(OWN_KEYS),
        () => make(keysPath(org)),
        endIt,
      ]);
      await galera.settle();
      const keys = [own!, made!].flatMap(({ status, body }) => (status === 201 ? [body as CreatedKey] : []));
      const left = await countOf(db, 'api_keys WHERE user_id = ?', [maker.id]);
      const found = [round, own!.status, made!.status, ended!.status, left];
      if (ended!.status !== 200 || left !== (keysLeft === 'kept' ? keys.length : 0)) wrong.push(found);
      const gone = keysLeft === 'gone' ? [401] : [];
      if (![201, ...gone].includes(own!.status) || ![201, 403, ...gone].includes(made!.status))
        wrong.push(found);

      const sql = `SELECT type FROM events WHERE org_id = ? AND user_id = ? AND
        type IN ('key.created', 'member.removed') ORDER BY org_revision`;
      const types = (await db.query(sql, [org.id, maker.id])).map(({ type }) => String(type));
      const expected = made!.status === 201 ? ['key.created', 'member.removed'] : ['member.removed'];
      if (types.join() !== expected.join()) wrong.push([...found, types]);
      if (made!.status === 201) madeFirst += 1;
      else endedFirst += 1;

      for (const { key, apiKey } of keys) {
        const states = [await isActive(round, key), await isActive(round + 1, key)];
        const isLive = keysLeft === 'kept' && apiKey.id === (own!.body as CreatedKey).apiKey.id;
        if (states.join() !== [isLive, isLive].join()) wrong.push([...found, states]);
      }
      if (keysLeft === 'gone' || made!.status !== 201) return;
      // Otherwise the organization would have 100 keys of removed members, and could have no more.
      const { apiKey } = made!.body as CreatedKey;
      const { status } = await owner.delete(`${keysPath(org)}/${apiKey.id}`);
      if (status !== 200) wrong.push([...found, 'revoked', status]);
    });
    console.info({ madeFirst, endedFirst });
    expect(madeFirst).toBeGreaterThan(0);
    expect(endedFirst).toBeGreaterThan(0);
  });

  it('an API key is revoked once, by its user on one node or a report on the other', async () => {
    const reasons = { revoked: 0, reported: 0 };
    await expectRounds([ROUNDS, 3], async (round, wrong) => {
      const path = round % 2 === 0 ? OWN_KEYS : keysPath(org);
      const { apiKey, key } = (await makeKey(owner.at(galera.on(round)), path, billing)).body;
      await galera.settle();
      const [revoked, reported] = await atOnce<Answer>([
        async () => {
          await sleep(random.between(0, 4));
          return owner.at(galera.on(round)).delete(`${path}/${apiKey.id}`);
        },
        async () => {
          await sleep(random.between(0, 4));
          return galera.on(round + 1).anyone.post('/api/keys/revoke', { key });
        },
      ]);
      await galera.settle();
      const reason = revoked!.status === 200 ? 'revoked' : 'reported';
      reasons[reason] += 1;
      const sql = "SELECT data FROM events WHERE type = 'key.revoked' AND user_id = ? AND data LIKE ?";
      const told = (await db.query(sql, [owner.id, `%${apiKey.id}%`])).map(({ data }) => String(data));
      const left = await countOf(db, 'api_keys WHERE id = ?', [apiKey.id]);
      const isRight = [200, 404].includes(revoked!.status) && reported!.status === 200 && left === 0;
      if (!isRight || told.join() !== JSON.stringify({ keyId: apiKey.id, reason }))
        wrong.push([round, revoked!.status, reported!.status, left, told]);
    });
    console.info(reasons);
    expect(reasons.revoked).toBeGreaterThan(0);
    expect(reasons.reported).toBeGreaterThan(0);
  });

  it('an API key of an organization that is deleted on one node has no use on the other from the answer on', async () => {
    let [before, after] = [0, 0];
    await expectRounds([ROUNDS, 6], async (round, wrong) => {
      const deleted = await anOrgOf(owner.at(galera.on(round)));
      const { key } = (await makeKey(owner.at(galera.on(round)), keysPath(deleted), billing)).body;
      const atFirst = await isActive(round + 1, key);
      const [ended, meanwhile] = await atOnce<unknown>([
        async () => (await owner.at(galera.on(round)).delete(`/api/orgs/${deleted.id}`)).status,
        async () => {
          await sleep(random.between(0, 12));
          return isActive(round + 1, key);
        },
      ]);
      if (meanwhile === true) before += 1;
      else after += 1;
      const states = [await isActive(round + 1, key), await isActive(round, key)];
      const found = [atFirst, ended, ...states];
      if (found.join() !== 'true,200,false,false') wrong.push([round, ...found]);
    });
    console.info({ before, after });
    expect(before).toBeGreaterThan(0);
    expect(after).toBeGreaterThan(0);
  });
});
