import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { IdempotencyKey, IdempotencyKeysRepository } from '../../src/requests/idempotency-keys.repository.js';
import { Writes } from '../../src/requests/writes.js';
import { type Answer, theOneOf } from '../support/answer.js';
import { roundsOfARace } from '../support/engine.js';
import { atOnce, times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';
import { openDataLayer } from '../support/data-source.js';
import {
  idempotencyKeyReused,
  invalidFields,
  invalidToken,
  lastOwner,
  preconditionFailed,
} from '../support/expected.js';
import { answerAfter, type HeldRows, holdRows } from '../support/held-rows.js';
import {
  addMember,
  changeRole,
  memberPath,
  membersPath,
  orgsOf,
  removeMember,
} from '../support/org-members.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import type { Account, Cast, Org } from '../support/personas.js';
import { anAccount, anEmail, anOrg, anOrgOf, anOrgWithTwoOwners, join } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/connections.js';
import { insertRows } from '../support/rows.js';
import { startSharedCluster } from '../support/service.js';
import { aCleanUp } from '../support/clean-up.js';
import {
  accept,
  acceptByCode,
  anInvitation,
  aVerifiedAccount,
  decline,
  declineByCode,
} from '../support/inviting.js';

const withKey = (who: Caller, key: string = randomUUID()) => who.with({ 'idempotency-key': key });
const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';

const cluster = await startSharedCluster();
const { db } = cluster;
const at = (index: number) => cluster.instances[index % cluster.instances.length]!;
const service = at(0);
const data = await openDataLayer();
afterAll(async () => {
  await data.close();
  await cluster.stop();
});

const keysOf = ({ id }: Account) => db.query('SELECT * FROM idempotency_keys WHERE user_id = ?', [id]);

describe('a request with an Idempotency-Key', () => {
  it('is carried out once, and its answer repeated', async () => {
    const { org, owner, member, outsider } = await anOrg(service);
    const requests: ((by: Caller) => Promise<Answer>)[] = [
      (by) => by.post('/api/orgs', { name: `"\\${'🐎'.repeat(98)}` }),
      (by) => addMember(by, org, outsider, 'admin'),
      (by) => changeRole(by, org, outsider, 'member'),
      (by) => removeMember(by, org, member),
    ];
    const state = async () => [
      await db.query('SELECT id, revision FROM orgs ORDER BY id'),
      await db.query('SELECT COUNT(*) AS n FROM events'),
    ];
    for (const send of requests) {
      const by = withKey(owner);
      const first = await send(by);
      expect(first.status, first.text).toBeLessThan(300);
      expect(isReplayed(first)).toBe(false);
      const before = await state();
      const again = await send(by);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(isReplayed(again)).toBe(true);
      expect(await state()).toEqual(before);
    }
    expect(await orgsOf(owner)).toHaveLength(2);
    expect(await keysOf(owner)).toHaveLength(4);
  });

  it('is the same whatever the order and space in its body, and with the key in quotes', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const key = randomUUID();
    const bodies = [
      `{"email":"${outsider.email}","role":"member"}`,
      `{ "role": "member",\n "email": "${outsider.email}" }`,
    ];
    const answers: Answer[] = [];
    for (const [i, body] of bodies.entries()) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': i ? `"${key}"` : key };
      answers.push(await owner.send('POST', membersPath(org), { headers, body }));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(isReplayed)).toEqual([false, true]);
  });

  it('is refused where the key was sent with another method, path, query or body', async () => {
    const { org, owner, member, admin } = await anOrg(service);
    const by = withKey(owner);
    const path = memberPath(org, member);
    expect((await changeRole(by, org, member, 'admin')).status).toBe(200);
    for (const send of [
      () => changeRole(by, org, member, 'member'),
      () => by.patch(path, { role: 'admin', more: 1 }),
      () => changeRole(by, org, admin, 'admin'),
      () => by.patch(`${path}?remedy=true`, { role: 'admin' }),
      () => by.patch(`${path}?dryRun=true`, { role: 'admin' }),
      () => by.delete(path),
      () => by.post('/api/orgs', { name: 'Other' }),
    ])
      expect(await send()).toMatchObject(idempotencyKeyReused);
    expect(isReplayed(await changeRole(by, org, member, 'admin'))).toBe(true);
  });

  it('keeps no refusal, so that it can succeed later', async () => {
    const { org, owner, admin } = await anOrg(service);
    const by = withKey(owner);
    const leave = () => removeMember(by, org, owner);
    expect(await leave()).toMatchObject(lastOwner);
    expect(await keysOf(owner)).toEqual([]);
    await changeRole(owner, org, admin, 'owner');
    expect((await leave()).status).toBe(200);
    // The member has left, and the answer is the same.
    const again = await leave();
    expect([again.status, isReplayed(again)]).toEqual([200, true]);
  });

  it('is repeated when the organization is gone, and not when the login is', async () => {
    const { org, owner, member } = await anOrg(service);
    const by = withKey(owner);
    const remove = (who: Caller) => removeMember(who, org, member);
    await remove(by);
    await db.query('DELETE FROM members WHERE org_id = ?', [org.id]);
    await db.query('DELETE FROM orgs WHERE id = ?', [org.id]);
    const again = await remove(by);
    expect([again.status, again.body, isReplayed(again)]).toEqual([200, { ok: true }, true]);
    await owner.post('/api/auth/logout');
    expect(await remove(by)).toMatchObject(invalidToken);
  });

  it('is that of its user only', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const key = randomUUID();
    const [first, second] = [
      await withKey(ada, key).post<{ org: Org }>('/api/orgs', { name: 'Shared name' }),
      await withKey(grace, key).post<{ org: Org }>('/api/orgs', { name: 'Shared name' }),
    ];
    expect([first.status, second.status, isReplayed(second)]).toEqual([201, 201, false]);
    expect(second.body.org.id).not.toBe(first.body.org.id);
  });

  it('needs a key of 1 to 255 visible characters', async () => {
    const ada = await anAccount(service);
    for (const key of ['', '""', 'a b', 'x'.repeat(256), '"x', '"x";a', 'ü']) {
      const answer = await ada.with({ 'idempotency-key': key }).post('/api/orgs', { name: 'Never' });
      expect(answer, JSON.stringify(key)).toMatchObject(invalidFields('Idempotency-Key'));
    }
    expect(await orgsOf(ada)).toEqual([]);
    expect((await withKey(ada, 'x'.repeat(255)).post('/api/orgs', { name: 'Once' })).status).toBe(201);
  });

  it('is not read into memory when the key has 10 MB', async () => {
    const ada = await anAccount(service);
    const body = JSON.stringify({ name: 'Never' });
    const head = [
      `Authorization: Bearer ${ada.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `Idempotency-Key: ${'x'.repeat(10_000_000)}`,
    ];
    expect((await sendBytes(service, requestBytes('POST /api/orgs', head, body)))?.status ?? 431).toBe(431);
    expect(await orgsOf(ada)).toEqual([]);
  });

  it('is forgotten after 24 hours, at once for its key', async () => {
    const ada = await anAccount(service);
    const by = withKey(ada);
    const before = Date.now();
    await by.post('/api/orgs', { name: 'Twice' });
    const [row] = await keysOf(ada);
    expect(Number(row!['expires_at']) - before).toBeGreaterThanOrEqual(86_400_000);
    expect(Number(row!['expires_at']) - Date.now()).toBeLessThanOrEqual(86_400_000);
    await db.query('UPDATE idempotency_keys SET expires_at = ? WHERE user_id = ?', [before, ada.id]);
    const again = await by.post('/api/orgs', { name: 'Another, with that key' });
    expect([again.status, isReplayed(again)]).toEqual([201, false]);
    expect(await keysOf(ada)).toHaveLength(1);
    expect(isReplayed(await by.post('/api/orgs', { name: 'Another, with that key' }))).toBe(true);
    expect(await orgsOf(ada)).toHaveLength(2);
  });

  it('holds neither the key nor the body of the request, and no code', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const key = `visible-${randomUUID()}`;
    await addMember(withKey(owner, key), org, outsider);
    const text = JSON.stringify(await keysOf(owner));
    for (const secret of [key, outsider.email, owner.token, owner.password])
      expect(text).not.toContain(secret);
  });

  it('is carried out once by two at once, though the key was used more than 24 hours ago', async () => {
    const { org, owner, member } = await anOrg(service);
    const key = randomUUID();
    const change = (who: Caller) => changeRole(withKey(who, key), org, member, 'admin');
    const revision = async () =>
      Number((await db.query('SELECT revision FROM orgs WHERE id = ?', [org.id]))[0]!['revision']);
    await change(owner);
    await db.query('UPDATE idempotency_keys SET expires_at = 1 WHERE user_id = ?', [owner.id]);
    await db.query("UPDATE members SET role = 'member' WHERE user_id = ?", [member.id]);
    const before = await revision();
    const held = await holdRows(service);
    await held.write('UPDATE orgs SET name = name WHERE id = ?', [org.id]);
    const sent = [change(owner), change(owner.at(at(1)))];
    await held.untilWaiting(2);
    await held.commit();
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.filter(isReplayed)).toHaveLength(1);
    expect(await revision()).toBe(before + 1);
    expect(await keysOf(owner)).toHaveLength(1);
  });
});

describe('equal requests with one key at once', () => {
  const ROUNDS = roundsOfARace(10);
  const CLIENTS = 8;

  it.each<[string, (cast: Cast) => Account, (by: Caller, cast: Cast) => Promise<Answer>]>([
    ['create an organization', ({ owner }) => owner, (by) => by.post('/api/orgs', { name: 'Once' })],
    ['add a member', ({ admin }) => admin, (by, { org, outsider }) => addMember(by, org, outsider)],
    ['change a member', ({ owner }) => owner, (by, { org, member }) => changeRole(by, org, member, 'admin')],
    ['remove a member', ({ owner }) => owner, (by, { org, member }) => removeMember(by, org, member)],
    [
      'leave, after which they may ask nothing any more',
      ({ owner }) => owner,
      (by, { org, owner }) => removeMember(by, org, owner),
    ],
  ])('%s: once, with equal answers', async (_name, by, send) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const cast = await anOrgWithTwoOwners(at(round));
      const key = randomUUID();
      const known = await knownEvents(db);
      const answers = await atOnce(
        times(CLIENTS, (client) => () => send(withKey(by(cast).at(at(client)), key), cast)),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, answers[0]!.text).toBe(1);
      expect(answers[0]!.status).toBeLessThan(300);
      expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1);
      const events = await eventsSince(db, known);
      expect(events.filter(({ type }) => type.startsWith('member.'))).toHaveLength(1);
    }
  });

  it('where the requests differ, one is carried out and the others are refused', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { owner } = await anOrg(at(round));
      const key = randomUUID();
      const create = (client: number) =>
        withKey(owner.at(at(client)), key).post<{ org: Org }>('/api/orgs', { name: `Org ${client}` });
      const answers = await atOnce(times(CLIENTS, (client) => () => create(client)));
      const made = theOneOf(answers, 201, idempotencyKeyReused);
      expect((await orgsOf(owner)).filter(({ name }) => name.startsWith('Org '))).toEqual([made.body.org]);
    }
  });
});

it('the kept answer has neither a code nor an API key, which are shown once', async () => {
  const keys = new IdempotencyKeysRepository(
    data.dataSource.getRepository(IdempotencyKey),
    data.transactions,
  );
  const writes = new Writes(data.transactions, keys);
  const actor = {
    kind: 'user' as const,
    id: 'ada',
    sessionId: 's',
    isDelegated: false,
    requestId: 'r',
    address: '127.0.0.1',
  };
  const key = { keyHash: 'k', fingerprint: 'f' };
  const code = '7K2M9-QX4TB';
  const apiKey = { id: 'k', name: 'Deploy' };
  const answer = { invitation: { id: 'i', email: 'grace@example.com', code }, code, apiKey, key: 'ack_' };
  const write = { kind: 'request' as const, actor, status: 201, dryRun: false, key };
  expect(await writes.run(write, actor.id, () => Promise.resolve(answer))).toBe(answer);
  const kept = await data.db.query("SELECT status, body FROM idempotency_keys WHERE user_id = 'ada'");
  const body = '{"invitation":{"id":"i","email":"grace@example.com"},"apiKey":{"id":"k","name":"Deploy"}}';
  expect(kept).toEqual([{ status: 201, body }]);
});

it('the clean-up deletes answers of more than 24 hours ago', async () => {
  const now = Date.now();
  await insertRows(
    data.db,
    'idempotency_keys',
    [
      { key_hash: 'a', expires_at: now - 1 },
      { key_hash: 'b', expires_at: now + 1000 },
    ],
    { user_id: 'grace', fingerprint: 'f', status: 200, body: '{}' },
  );
  await aCleanUp(data.dataSource).deleteExpired(now);
  const left = await data.db.query("SELECT key_hash FROM idempotency_keys WHERE user_id = 'grace'");
  expect(left).toEqual([{ key_hash: 'b' }]);
});

it('the clean-up keeps 10,000 answers of one user, the newest, and all of others', async () => {
  const now = Date.now();
  const row = { fingerprint: 'f', status: 200, body: '{}' };
  const oldest = now + 86_400_000 - 12_345 * 250;
  const keysOfFlood = times(12_345, (number) => ({
    key_hash: `k${number}`,
    expires_at: oldest + number * 250,
  }));
  await insertRows(data.db, 'idempotency_keys', keysOfFlood, { ...row, user_id: 'flood' });
  const others = [
    { user_id: 'seldom', key_hash: 'k', expires_at: oldest },
    { user_id: 'now', key_hash: 'k', expires_at: now + 86_400_000 },
  ];
  await insertRows(data.db, 'idempotency_keys', others, row);
  await aCleanUp(data.dataSource).deleteExpired(now);

  const left =
    "SELECT COUNT(*) AS kept, MIN(expires_at) AS since FROM idempotency_keys WHERE user_id = 'flood'";
  expect(await data.db.query(left)).toEqual([{ kept: 10_000, since: oldest + 2345 * 250 }]);
  for (const userId of ['seldom', 'now'])
    expect(await data.db.query('SELECT key_hash FROM idempotency_keys WHERE user_id = ?', [userId])).toEqual([
      { key_hash: 'k' },
    ]);
});

type Change = [name: string, send: (by: Caller, cast: Cast) => Promise<Answer>];

const tagOf = ({ headers }: Answer): string | null => headers.get('etag');
const currentTag = async (who: Account, { id }: Org): Promise<string> =>
  tagOf(await who.get(`/api/orgs/${id}`))!;
const ifMatch = (who: Account, tag: string) => who.with({ 'if-match': tag });
const raiseRevision =
  ({ id }: Org, by: number) =>
  (held: HeldRows) =>
    held.write(`UPDATE orgs SET revision = revision + ${by} WHERE id = ?`, [id]);

describe('If-Match', () => {
  const CHANGES: Change[] = [
    ['add a member', (by, { org, outsider }) => addMember(by, org, outsider)],
    ['change a member', (by, { org, member }) => changeRole(by, org, member, 'admin')],
    ['remove a member', (by, { org, member }) => removeMember(by, org, member)],
  ];

  it('knows the tag of an organization by every change, and by nothing else', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const first = await currentTag(owner, org);
    expect(first).toMatch(/^"\d+"$/);
    expect(await currentTag(member, org)).toBe(first);
    expect(tagOf(await owner.send('HEAD', `/api/orgs/${org.id}`))).toBe(first);
    expect((await changeRole(admin, org, owner, 'member')).status).toBe(403);
    expect(await currentTag(owner, org)).toBe(first);
    await join(org, owner, outsider, 'member');
    expect(await currentTag(owner, org)).not.toBe(first);
    expect(tagOf(await outsider.get('/api/me'))).toBeNull();
  });

  describe.each(CHANGES)('when asked to %s', (_name, change) => {
    it('lets the change through at that revision only', async () => {
      const cast = await anOrg(service);
      const { org, owner } = cast;
      const old = await currentTag(owner, org);
      await join(org, owner, await anAccount(service), 'member');
      const tag = await currentTag(owner, org);
      for (const wrong of [old, `W/${tag}`, '"0"', `"0", W/${tag}`, `"0${tag.slice(1)}`])
        expect(await change(ifMatch(owner, wrong), cast), wrong).toMatchObject(preconditionFailed);
      expect(await currentTag(owner, org)).toBe(tag);
      expect((await change(ifMatch(owner, `W/"0", "0" , ${tag}`), cast)).status).toBeLessThan(300);
      expect(await change(ifMatch(owner, tag), cast)).toMatchObject(preconditionFailed);
    });

    it('is true for * and refuses what is no list of tags', async () => {
      const cast = await anOrg(service);
      for (const wrong of ['7', '"7', '*, "7"', '', `"${'7'.repeat(1000)}"`])
        expect(await change(ifMatch(cast.owner, wrong), cast), wrong).toMatchObject(
          invalidFields('If-Match'),
        );
      expect((await change(ifMatch(cast.owner, '*'), cast)).status).toBeLessThan(300);
    });

    it('decides again where somebody was faster', async () => {
      const cast = await anOrg(service);
      const by = ifMatch(cast.owner, await currentTag(cast.owner, cast.org));
      const late = await answerAfter(service, raiseRevision(cast.org, 1), () => change(by, cast));
      expect(late).toMatchObject(preconditionFailed);
    });
  });

  it('lets one of 20 writers at once win for each revision', async () => {
    const { org, owner } = await anOrg(service);
    for (let round = 0; round < 10; round += 1) {
      const tag = await currentTag(owner, org);
      const answers = await atOnce(
        times(20, (client) => () => {
          const by = ifMatch(owner.at(at(client)), tag);
          return by.patch(`/api/orgs/${org.id}`, { name: `Org ${round} of ${client}` });
        }),
      );
      const next = `"${Number(tag.slice(1, -1)) + 1}"`;
      expect(tagOf(theOneOf(answers, 200, preconditionFailed))).toBe(next);
      expect(await currentTag(owner, org)).toBe(next);
    }
  });
});

describe('the ETag of a change', () => {
  /** Each is sent with the tag that the one before it answered. */
  const CHANGES: Change[] = [
    ['rename', (by, { org }) => by.patch(`/api/orgs/${org.id}`, { name: 'Renamed' })],
    ['rename to the same name', (by, { org }) => by.patch(`/api/orgs/${org.id}`, { name: 'Renamed' })],
    ['add', (by, cast) => addMember(by, cast.org, cast.outsider)],
    ['change a role', (by, { org, outsider }) => changeRole(by, org, outsider, 'admin')],
    ['change to the same role', (by, { org, outsider }) => changeRole(by, org, outsider, 'admin')],
    ['remove', (by, { org, outsider }) => removeMember(by, org, outsider)],
    [
      'invite',
      (by, { org, outsider }) =>
        by.post(`/api/orgs/${org.id}/invitations`, { email: outsider.email, role: 'member', showCode: true }),
    ],
    ['transfer', (by, { org, admin }) => by.post(`/api/orgs/${org.id}/transfer`, { userId: admin.id })],
    ['leave', (by, { org }) => by.post(`/api/orgs/${org.id}/leave`)],
  ];

  const stored = async ({ id }: Org): Promise<string> => {
    const [row] = await db.query('SELECT revision FROM orgs WHERE id = ?', [id]);
    return `"${Number(row!['revision'])}"`;
  };

  /** A success whose tag is the one of now. */
  async function expectCurrent(answer: Answer, org: Org): Promise<string> {
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(tagOf(answer)).toBe(await stored(org));
    return tagOf(answer)!;
  }

  it('is the one of the organization from then on, and the next change can rely on it', async () => {
    const cast = await anOrg(service);
    let tag = await stored(cast.org);
    for (const [name, send] of CHANGES) {
      const answer = await send(cast.owner.with({ 'if-match': tag }), cast);
      expect([name, answer.status < 300]).toEqual([name, true]);
      tag = await expectCurrent(answer, cast.org);
    }
    const { admin, org } = cast;
    expect(tagOf(await admin.get(`/api/orgs/${org.id}`))).toBe(tag);
    await expectCurrent(await admin.with({ 'if-match': tag }).delete(`/api/orgs/${org.id}`), org);
    await expectCurrent(await admin.post(`/api/orgs/${org.id}/restore`), org);
  });

  it('is sent with a new organization, and with what is done to invitations', async () => {
    const ada = await anAccount(service);
    const made = await ada.post<{ org: Org }>('/api/orgs', { name: 'New' });
    const { org } = made.body;
    expect(await expectCurrent(made, org)).toBe('"1"');
    const [one, two] = [await aVerifiedAccount(service), await anAccount(service)];
    const first = await anInvitation(ada, org, one);
    const second = await anInvitation(ada, org, two);
    const path = `/api/orgs/${org.id}/invitations/${(await anInvitation(ada, org, { email: anEmail() })).id}`;
    await expectCurrent(await ada.post(`${path}/resend`, { showCode: true }), org);
    await expectCurrent(await ada.delete(path), org);
    await expectCurrent(await accept(one, first), org);
    await expectCurrent(await acceptByCode(two, second.code), org);
  });

  it('is told to nobody who declines', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const guest = await aVerifiedAccount(service);
    const invitation = await anInvitation(owner, org, guest);
    const { code } = await anInvitation(owner, org, outsider);
    for (const answer of [await decline(guest, invitation), await declineByCode(outsider, code)])
      expect([answer.status, tagOf(answer)]).toEqual([200, null]);
  });

  it('is that of the state after the change, where somebody else was faster', async () => {
    const { org, owner, member } = await anOrg(service);
    const late = await answerAfter(service, raiseRevision(org, 5), () =>
      changeRole(owner, org, member, 'admin'),
    );
    expect(tagOf(late)).toBe(await stored(org));
    expect(late.status).toBe(200);
  });

  it('is sent with no refusal, no dry run and no repeated answer', async () => {
    const { org, owner, member } = await anOrg(service);
    const refused = await owner.post(`/api/orgs/${org.id}/leave`);
    expect(refused).toMatchObject(lastOwner);
    const dry = await owner.delete(`${memberPath(org, member)}?dryRun=true`);
    expect(dry.headers.get('dry-run')).toBe('true');
    const by = owner.with({ 'idempotency-key': randomUUID() });
    const change = () => by.patch(`/api/orgs/${org.id}`, { name: 'Once' });
    await expectCurrent(await change(), org);
    await anOrgOf(owner);
    const again = await change();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([refused, dry, again].map(tagOf)).toEqual([null, null, null]);
  });
});
