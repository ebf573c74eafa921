import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IdempotencyKey, IdempotencyKeysRepository } from '../../src/requests/idempotency-keys.repository.js';
import { Writes } from '../../src/requests/writes.js';
import type { Answer } from '../support/answer.js';
import type { Caller } from '../support/caller.js';
import { openDataLayer } from '../support/data-source.js';
import {
  alreadyMember,
  idempotencyKeyReused,
  invalidFields,
  invalidToken,
  lastOwner,
} from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, anAccount, anOrg, anOrgOf, type Org } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/raw-connection.js';
import { type Cluster, type Service, startClusterWithoutLimits, startService } from '../support/service.js';
import { aCleanUp } from '../support/clean-up.js';

const withKey = (who: Caller, key: string = randomUUID()) => who.with({ 'idempotency-key': key });
const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';
const keysOf = ({ db }: Service, { id }: Account) =>
  db.query('SELECT * FROM idempotency_keys WHERE user_id = ?', [id]);

describe('a request with an Idempotency-Key', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const orgsOf = async (who: Account): Promise<Org[]> =>
    (await who.get<{ orgs: Org[] }>('/api/me')).body.orgs;

  it('is carried out once, and its answer repeated', async () => {
    const { org, owner, member, outsider } = await anOrg(service);
    const requests: ((by: Caller) => Promise<Answer>)[] = [
      (by) => by.post('/api/orgs', { name: `"\\${'🐎'.repeat(98)}` }),
      (by) => by.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role: 'admin' }),
      (by) => by.patch(`/api/orgs/${org.id}/members/${outsider.id}`, { role: 'member' }),
      (by) => by.delete(`/api/orgs/${org.id}/members/${member.id}`),
    ];
    for (const send of requests) {
      const by = withKey(owner);
      const first = await send(by);
      expect(first.status, first.text).toBeLessThan(300);
      expect(isReplayed(first)).toBe(false);
      const revisions = await service.db.query('SELECT id, revision FROM orgs ORDER BY id');
      const events = await service.db.query('SELECT COUNT(*) AS n FROM events');

      const again = await send(by);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(isReplayed(again)).toBe(true);
      expect(await service.db.query('SELECT id, revision FROM orgs ORDER BY id')).toEqual(revisions);
      expect(await service.db.query('SELECT COUNT(*) AS n FROM events')).toEqual(events);
    }
    expect(await orgsOf(owner)).toHaveLength(2);
    expect(await keysOf(service, owner)).toHaveLength(4);
  });

  it('is the same whatever the order and space in its body, and with the key in quotes', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const path = `/api/orgs/${org.id}/members`;
    const key = randomUUID();
    const bodies = [
      `{"email":"${outsider.email}","role":"member"}`,
      `{ "role": "member",\n "email": "${outsider.email}" }`,
    ];
    const answers: Answer[] = [];
    for (const [i, body] of bodies.entries()) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': i ? `"${key}"` : key };
      answers.push(await owner.send('POST', path, { headers, body }));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(isReplayed)).toEqual([false, true]);
  });

  it('is refused where the key was sent with another method, path, query or body', async () => {
    const { org, owner, member, admin } = await anOrg(service);
    const by = withKey(owner);
    const path = `/api/orgs/${org.id}/members`;
    expect((await by.patch(`${path}/${member.id}`, { role: 'admin' })).status).toBe(200);

    for (const send of [
      () => by.patch(`${path}/${member.id}`, { role: 'member' }),
      () => by.patch(`${path}/${member.id}`, { role: 'admin', more: 1 }),
      () => by.patch(`${path}/${admin.id}`, { role: 'admin' }),
      () => by.patch(`${path}/${member.id}?remedy=true`, { role: 'admin' }),
      () => by.patch(`${path}/${member.id}?dryRun=true`, { role: 'admin' }),
      () => by.delete(`${path}/${member.id}`),
      () => by.post('/api/orgs', { name: 'Other' }),
    ]) {
      expect(await send()).toMatchObject(idempotencyKeyReused);
    }
    expect(isReplayed(await by.patch(`${path}/${member.id}`, { role: 'admin' }))).toBe(true);
  });

  it('keeps no refusal, so that it can succeed later', async () => {
    const { org, owner, admin } = await anOrg(service);
    const by = withKey(owner);
    const leave = () => by.delete(`/api/orgs/${org.id}/members/${owner.id}`);
    expect(await leave()).toMatchObject(lastOwner);
    expect(await keysOf(service, owner)).toEqual([]);
    await owner.patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'owner' });
    expect((await leave()).status).toBe(200);
    // Nobody there any more, and the answer is the same.
    const again = await leave();
    expect([again.status, isReplayed(again)]).toEqual([200, true]);
  });

  it('is repeated when the organization is gone, and not when the login is', async () => {
    const { org, owner, member } = await anOrg(service);
    const by = withKey(owner);
    const remove = (who: Caller) => who.delete(`/api/orgs/${org.id}/members/${member.id}`);
    await remove(by);
    await service.db.query('DELETE FROM members WHERE org_id = ?', [org.id]);
    await service.db.query('DELETE FROM orgs WHERE id = ?', [org.id]);
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
    const answer = await sendBytes(service, requestBytes('POST /api/orgs', head, body));
    expect(answer?.status ?? 431).toBe(431);
    expect(await orgsOf(ada)).toEqual([]);
  });

  it('is forgotten after 24 hours, at once for its key', async () => {
    const ada = await anAccount(service);
    const by = withKey(ada);
    const before = Date.now();
    await by.post('/api/orgs', { name: 'Twice' });
    const [row] = await keysOf(service, ada);
    expect(Number(row!['expires_at']) - before).toBeGreaterThanOrEqual(86_400_000);
    expect(Number(row!['expires_at']) - Date.now()).toBeLessThanOrEqual(86_400_000);

    await service.db.query('UPDATE idempotency_keys SET expires_at = ? WHERE user_id = ?', [before, ada.id]);
    const again = await by.post('/api/orgs', { name: 'Another, with that key' });
    expect([again.status, isReplayed(again)]).toEqual([201, false]);
    expect(await keysOf(service, ada)).toHaveLength(1);
    expect(isReplayed(await by.post('/api/orgs', { name: 'Another, with that key' }))).toBe(true);
    expect(await orgsOf(ada)).toHaveLength(2);
  });

  it('goes with its account', async () => {
    const ada = await anAccount(service);
    await withKey(ada).post('/api/orgs', { name: 'Soon gone' });
    const [org] = await orgsOf(ada);
    await service.db.query('DELETE FROM members WHERE org_id = ?', [org!.id]);
    expect((await ada.delete('/api/me', { password: ada.password })).status).toBe(200);
    expect(await keysOf(service, ada)).toEqual([]);
  });

  it('holds neither the key nor the body of the request, and no code', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const key = `visible-${randomUUID()}`;
    await withKey(owner, key).post(`/api/orgs/${org.id}/members`, { email: outsider.email, role: 'member' });
    const text = JSON.stringify(await keysOf(service, owner));
    for (const secret of [key, outsider.email, owner.token, owner.password])
      expect(text).not.toContain(secret);
  });

  it('answers an addition that was made as one that was', async () => {
    const { org, owner, outsider } = await anOrg(service);
    const add = (by: Caller) =>
      by.post(`/api/orgs/${org.id}/members`, { email: outsider.email, role: 'member' });
    const by = withKey(owner);
    expect((await add(by)).status).toBe(201);
    expect(await add(withKey(owner))).toMatchObject(alreadyMember);
    expect((await add(by)).status).toBe(201);
  });

  it('keeps 10,000 answers of one user, the newest, and all of others', async () => {
    const [ada, grace] = [await anAccount(service), await anAccount(service)];
    const org = await anOrgOf(ada);
    const count = async () =>
      Number(
        (
          await service.db.query('SELECT COUNT(*) AS n FROM idempotency_keys WHERE user_id = ?', [ada.id])
        )[0]!['n'],
      );
    const expiresAt = Date.now() + 3_600_000;
    for (let from = 0; from < 12_000; from += 2000) {
      const rows = Array.from({ length: 2000 }, (_, i) => [
        ada.id,
        `k${from + i}`,
        'f',
        200,
        '{}',
        expiresAt + from + i,
      ]);
      const places = rows.map(() => '(?, ?, ?, ?, ?, ?)').join();
      await service.db.query(`INSERT INTO idempotency_keys VALUES ${places}`, rows.flat());
    }
    const create = () => withKey(grace, 'older').post('/api/orgs', { name: 'Older than all of those' });
    expect((await create()).status).toBe(201);
    const older = [expiresAt - 1, grace.id];
    await service.db.query('UPDATE idempotency_keys SET expires_at = ? WHERE user_id = ?', older);
    const set = (by: Caller) => by.patch(`/api/orgs/${org.id}/members/${ada.id}`, { role: 'owner' });
    const by = withKey(ada);
    for (let i = 0; i < 150; i += 1) expect((await set(withKey(ada))).status).toBe(200);
    expect((await set(by)).status).toBe(200);
    for (let i = 0; i < 150; i += 1) expect((await set(withKey(ada))).status).toBe(200);
    expect(await count()).toBeLessThanOrEqual(10_000);
    expect(isReplayed(await set(by))).toBe(true);
    expect(isReplayed(await create())).toBe(true);
  });
});

describe('a request with an Idempotency-Key, on several instances', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startClusterWithoutLimits();
  });
  afterAll(() => cluster.stop());

  it('is carried out once by two at once, though the key was used more than 24 hours ago', async () => {
    const [one, other = one] = cluster.instances as [Service, Service?];
    const { org, owner, member } = await anOrg(one);
    const key = randomUUID();
    const change = (who: Caller) =>
      withKey(who, key).patch(`/api/orgs/${org.id}/members/${member.id}`, { role: 'admin' });
    const revision = async () =>
      Number((await one.db.query('SELECT revision FROM orgs WHERE id = ?', [org.id]))[0]!['revision']);
    await change(owner);
    await one.db.query('UPDATE idempotency_keys SET expires_at = 1 WHERE user_id = ?', [owner.id]);
    await one.db.query("UPDATE members SET role = 'member' WHERE user_id = ?", [member.id]);
    const before = await revision();

    const held = await holdRows(one);
    await held.write('UPDATE orgs SET name = name WHERE id = ?', [org.id]);
    const sent = [change(owner), change(owner.at(other))];
    await held.untilTwoWait();
    await held.commit();
    const answers = await Promise.all(sent);

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.filter(isReplayed)).toHaveLength(1);
    expect(await revision()).toBe(before + 1);
    expect(await keysOf(one, owner)).toHaveLength(1);
  });
});

it('the kept answer has no code, which is shown once', async () => {
  const data = await openDataLayer();
  const rows = new IdempotencyKeysRepository(
    data.dataSource.getRepository(IdempotencyKey),
    data.transactions,
  );
  const writes = new Writes(data.transactions, rows);
  const actor = {
    kind: 'user' as const,
    id: 'ada',
    sessionId: 's',
    isDelegated: false,
    requestId: 'r',
    address: '127.0.0.1',
  };
  const key = { keyHash: 'k', fingerprint: 'f' };
  const answer = {
    invitation: { id: 'i', email: 'grace@example.com', code: '7K2M9-QX4TB' },
    code: '7K2M9-QX4TB',
  };

  const write = { actor, status: 201, dryRun: false, withRemedy: false, key };
  expect(await writes.run(write, actor.id, () => Promise.resolve(answer))).toBe(answer);

  const kept = await data.db.query('SELECT status, body FROM idempotency_keys');
  expect(kept).toEqual([{ status: 201, body: '{"invitation":{"id":"i","email":"grace@example.com"}}' }]);
  await data.close();
});

it('the clean-up deletes answers of more than 24 hours ago', async () => {
  const data = await openDataLayer();
  const now = Date.now();
  const rows = [
    ['a', now - 1],
    ['b', now + 1000],
  ];
  for (const [key, expiresAt] of rows) {
    await data.db.query('INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?, ?)', [
      'user',
      key!,
      'f',
      200,
      '{}',
      expiresAt!,
    ]);
  }
  await aCleanUp(data.dataSource).deleteExpired(now);
  expect(
    (await data.db.query('SELECT key_hash FROM idempotency_keys')).map((row) => row['key_hash']),
  ).toEqual(['b']);
  await data.close();
});
