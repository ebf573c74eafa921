import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { cursorExpired } from '../support/expected.js';
import { readFeed, untilNumbered, writeEvents } from '../support/feed.js';
import {
  accept,
  anInvitation,
  decline,
  type Invitation,
  invite,
  registerWith,
  resend,
  revoke,
  verified,
} from '../support/inviting.js';
import { addMember, changeRole, removeMember } from '../support/org-members.js';
import type { Account, Cast } from '../support/personas.js';
import { aCode, anAccount, anEmail, anOrg, anOrgOf, aPassword } from '../support/personas.js';
import { aRefreshableLogin, partsOf, refreshed } from '../support/refreshing.js';
import { startOwnService } from '../support/service.js';
import { aServiceCaller } from '../support/services.js';

type Row = Record<string, unknown>;

/** What the row of a change must hold; the rest has to be null. */
const NOTHING: Row = {
  actor_id: null,
  actor_email: null,
  actor_session_id: null,
  org_id: null,
  org_revision: null,
  user_id: null,
  user_revision: null,
  session_id: null,
  data: {},
  reason: null,
};
const AN_ID = expect.stringMatching(/^[\da-f-]{36}$/) as string;

const service = await startOwnService();
afterAll(() => service.stop());

describe('the record of changes', () => {
  let cast: Cast;
  const known = new Set<string>();

  beforeEach(async () => {
    cast = await anOrg(service);
    await newRows();
  });

  /** The rows that have come since the last call, in their order, without what tells two runs apart. */
  async function newRows(): Promise<Row[]> {
    const rows = await service.db.query('SELECT * FROM events ORDER BY id');
    const fresh = rows.filter(({ id }) => !known.has(String(id)));
    for (const { id } of fresh) known.add(String(id));
    return fresh.map(({ id, at, request_id, ip, data, pending, ...row }) => {
      expect([1, null]).toContain(pending);
      expect([id, request_id, ip]).toEqual([AN_ID, AN_ID, '127.0.0.1']);
      expect(Math.abs(Number(at) - Date.now())).toBeLessThan(600_000);
      return Object.assign(row, { data: JSON.parse(String(data)) as unknown });
    });
  }

  const by = (account: Account): Row => ({
    ...NOTHING,
    actor_type: 'user',
    actor_id: account.id,
    actor_session_id: AN_ID,
  });
  const inOrg = (revision: number): Row => ({ org_id: cast.org.id, org_revision: revision });
  const added = (who: Account, role: string, via: string): Row => ({
    type: 'member.added',
    user_id: who.id,
    data: { role, via },
  });
  const changed = (who: Account, from: string, to: string): Row => ({
    type: 'member.role_changed',
    user_id: who.id,
    data: { from, to },
  });
  const removed = (who: Account, role: string, reason: string): Row => ({
    type: 'member.removed',
    user_id: who.id,
    data: { role, reason },
  });
  const started = (who: Account, via: string): Row => ({
    type: 'session.started',
    user_id: who.id,
    session_id: AN_ID,
    data: { via },
  });

  it('tells of a registration', async () => {
    const account = await anAccount(service);
    expect(await newRows()).toEqual([
      { ...by(account), type: 'account.registered', user_id: account.id, user_revision: 1 },
      { ...by(account), ...started(account, 'register') },
    ]);
  });

  it('tells of a login, by the session that it starts', async () => {
    const { email, password } = cast.member;
    await service.anyone.post('/api/auth/login', { email, password });
    const rows = await newRows();
    expect(rows).toEqual([{ ...by(cast.member), ...started(cast.member, 'login') }]);
    expect(rows[0]!['session_id']).toBe(rows[0]!['actor_session_id']);
  });

  it('tells of a new organization and its owner', async () => {
    const { id } = await anOrgOf(cast.outsider);
    const org = { ...by(cast.outsider), org_id: id, org_revision: 1 };
    expect(await newRows()).toEqual([
      { ...org, type: 'org.created' },
      { ...org, ...added(cast.outsider, 'owner', 'created') },
    ]);
  });

  it('tells of every change of a membership, with the revision of the organization', async () => {
    const { org, owner, admin, member, outsider } = cast;
    await addMember(admin, org, outsider);
    await changeRole(owner, org, member, 'owner');
    await removeMember(owner, org, outsider);
    await removeMember(admin, org, admin);
    expect(await newRows()).toEqual([
      { ...by(admin), ...inOrg(4), ...added(outsider, 'member', 'added') },
      { ...by(owner), ...inOrg(5), ...changed(member, 'member', 'owner') },
      { ...by(owner), ...inOrg(6), ...removed(outsider, 'member', 'removed') },
      { ...by(admin), ...inOrg(7), ...removed(admin, 'admin', 'left') },
    ]);
  });

  it('tells of the life of an organization', async () => {
    const { owner, admin, member } = cast;
    const org = `/api/orgs/${cast.org.id}`;
    await admin.patch(org, { name: 'Renamed' });
    await owner.delete(org);
    await owner.post(`${org}/restore`);
    await owner.post(`${org}/transfer`, { userId: member.id });
    await member.post(`${org}/transfer`, { userId: admin.id, leave: true });
    await owner.post(`${org}/leave`);
    await admin.post(`${org}/transfer`, { userId: admin.id });
    expect(await newRows()).toEqual([
      { ...by(admin), ...inOrg(4), type: 'org.renamed' },
      { ...by(owner), ...inOrg(5), type: 'org.deleted' },
      { ...by(owner), ...inOrg(6), type: 'org.restored' },
      { ...by(owner), ...inOrg(7), ...changed(member, 'member', 'owner') },
      { ...by(owner), ...inOrg(7), ...changed(owner, 'owner', 'admin') },
      { ...by(member), ...inOrg(8), ...changed(admin, 'admin', 'owner') },
      { ...by(member), ...inOrg(8), ...removed(member, 'owner', 'left') },
      { ...by(owner), ...inOrg(9), ...removed(owner, 'admin', 'left') },
    ]);
  });

  it('tells of every invitation, and not whom it is for until he answers', async () => {
    const { owner, admin, outsider, org } = cast;
    await verified(service.db, outsider);
    const { email } = outsider;
    const first = await anInvitation(admin, org, { email, role: 'admin' });
    const second = await anInvitation(owner, org, { email: anEmail() });
    await resend(owner, org, first);
    await decline(outsider, first);
    await revoke(admin, org, second);
    const third = await anInvitation(admin, org, { email });
    await accept(outsider, third);
    const fourth = await anInvitation(admin, org, { email: anEmail() });
    await changeRole(owner, org, admin, 'member');
    const data = ({ id, role }: Invitation, more: object = {}) => ({
      data: { invitationId: id, role, ...more },
    });
    expect(await newRows()).toEqual([
      { ...by(admin), ...inOrg(4), type: 'invitation.created', ...data(first) },
      { ...by(owner), ...inOrg(5), type: 'invitation.created', ...data(second) },
      { ...by(owner), ...inOrg(6), type: 'invitation.resent', ...data(first) },
      { ...by(outsider), ...inOrg(7), type: 'invitation.declined', user_id: outsider.id, ...data(first) },
      { ...by(admin), ...inOrg(8), type: 'invitation.revoked', ...data(second, { reason: 'revoked' }) },
      { ...by(admin), ...inOrg(9), type: 'invitation.created', ...data(third) },
      { ...by(outsider), ...inOrg(10), type: 'invitation.accepted', user_id: outsider.id, ...data(third) },
      { ...by(outsider), ...inOrg(10), ...added(outsider, 'member', 'invitation') },
      { ...by(admin), ...inOrg(11), type: 'invitation.created', ...data(fourth) },
      { ...by(owner), ...inOrg(12), ...changed(admin, 'admin', 'member') },
      {
        ...by(owner),
        ...inOrg(12),
        type: 'invitation.revoked',
        ...data(fourth, { reason: 'inviter_demoted' }),
      },
    ]);
  });

  it('tells, once, of the session that the reuse of a code ended', async () => {
    const code = await aCode(cast.member);
    const exchange = () => service.anyone.post('/api/auth/code/exchange', { code });
    expect((await exchange()).status).toBe(200);
    expect((await exchange()).status).toBe(400);
    expect((await exchange()).status).toBe(400);
    expect(await newRows()).toEqual([
      {
        ...NOTHING,
        actor_type: 'system',
        type: 'session.ended',
        user_id: cast.member.id,
        session_id: AN_ID,
        data: { reason: 'code_reused' },
      },
    ]);
  });

  it('tells of a logout, of sessions that were ended, and of a change of the password, by the session that acted', async () => {
    const { member, owner, admin } = cast;
    const { sessionId } = partsOf((await aRefreshableLogin(service, member)).refreshToken);
    const late = await aRefreshableLogin(service, member);
    await refreshed(service, late.refreshToken);
    await newRows();
    const ended = { type: 'session.ended', user_id: member.id };

    await member.delete(`/api/me/sessions/${sessionId}`);
    await service.anyone.post('/api/auth/logout', { refreshToken: late.refreshToken });
    await member.delete('/api/me/sessions');
    await member.post('/api/auth/logout');
    await owner.delete('/api/me/sessions?all=true');
    await admin.sendJson('PUT', '/api/me/password', {
      currentPassword: admin.password,
      newPassword: aPassword(),
    });

    const rows = await newRows();
    const [own] = [rows[0]!['actor_session_id']];
    const lateId = partsOf(late.refreshToken).sessionId;
    const byMember = { ...by(member), ...ended, actor_session_id: own };
    expect(rows).toEqual([
      { ...byMember, session_id: sessionId, data: { reason: 'revoked' } },
      { ...by(member), ...ended, actor_session_id: lateId, session_id: lateId, data: { reason: 'logout' } },
      { ...byMember, data: { reason: 'revoked', all: true, except: own, epoch: 1 } },
      { ...byMember, session_id: own, data: { reason: 'logout' } },
      {
        ...by(owner),
        type: 'session.ended',
        user_id: owner.id,
        data: { reason: 'revoked', all: true, epoch: 1 },
      },
      { ...by(admin), type: 'account.password_changed', user_id: admin.id, user_revision: 2 },
      {
        ...by(admin),
        type: 'session.ended',
        user_id: admin.id,
        data: { reason: 'password_changed', all: true, except: rows[5]!['actor_session_id'], epoch: 1 },
      },
    ]);
  });

  it('tells of nothing that changed nothing', async () => {
    const { org, owner, admin, member, outsider } = cast;
    const path = `/api/orgs/${org.id}`;
    const answers = await Promise.all([
      service.anyone.post('/api/auth/register', { email: owner.email, password: owner.password }),
      service.anyone.post('/api/auth/login', { email: owner.email, password: 'wrong' }),
      addMember(member, org, outsider),
      addMember(admin, org, member, 'admin'),
      changeRole(admin, org, owner, 'member'),
      removeMember(owner, org, owner),
      changeRole(owner, org, member, 'member'),
      owner.get('/api/me'),
      owner.post('/api/auth/code'),
      owner.delete(`/api/me/sessions/${outsider.id}`),
      owner.sendJson('PUT', '/api/me/password', { currentPassword: 'wrong', newPassword: aPassword() }),
      service.anyone.post('/api/auth/logout', { refreshToken: 'forged' }),
      owner.delete('/api/me/sessions?all=no'),
      owner.patch(path, { name: org.name }),
      owner.post(`${path}/leave`),
      owner.post(`${path}/restore`),
      owner.post(`${path}/transfer`, { userId: outsider.id }),
      member.delete(path),
      invite(member, org, outsider),
      invite(owner, org, member),
      revoke(owner, org, { id: outsider.id }),
      accept(outsider, { id: outsider.id }),
      registerWith(service, outsider.email, '00000-00000'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      409, 401, 403, 409, 403, 409, 200, 200, 201, 404, 403, 401, 400, 200, 409, 404, 404, 403, 403, 409, 404,
      404, 400,
    ]);
    expect(await newRows()).toEqual([]);
  });

  it('is rolled back with the change that it tells of', async () => {
    const { org, owner, member, outsider } = cast;
    const path = `/api/orgs/${org.id}`;
    const invitation = await anInvitation(owner, org, outsider);
    await newRows();
    await service.db.query('ALTER TABLE events RENAME TO events_away');
    const requests = [
      () => addMember(owner, org, outsider),
      () => outsider.post('/api/orgs', { name: 'Never' }),
      () => owner.patch(path, { name: 'Never' }),
      () => owner.post(`${path}/transfer`, { userId: member.id, leave: true }),
      () => member.post(`${path}/leave`),
      () => owner.delete(path),
      () => service.anyone.post('/api/auth/login', { email: owner.email, password: owner.password }),
      () => invite(owner, org, { email: anEmail() }),
      () => revoke(owner, org, invitation),
      () => accept(outsider, invitation, invitation.code),
    ];
    const counts = async (): Promise<unknown> =>
      service.db.query(
        `SELECT (SELECT COUNT(*) FROM orgs) AS orgs, (SELECT COUNT(*) FROM members) AS members,
           (SELECT COUNT(*) FROM sessions) AS sessions, (SELECT SUM(revision) FROM orgs) AS revisions,
           (SELECT COUNT(*) FROM orgs WHERE deleted_at IS NULL AND name <> 'Never') AS there,
           (SELECT COUNT(*) FROM members WHERE role = 'owner') AS owners,
           (SELECT COUNT(*) FROM invitations WHERE pending = 1) AS invitations`,
      );
    const untouched = await counts();
    const statuses: number[] = [];
    for (const request of requests) statuses.push((await request()).status);
    await service.db.query('ALTER TABLE events_away RENAME TO events');

    expect(statuses).toEqual(requests.map(() => 500));
    expect(await counts()).toEqual(untouched);
    expect(await newRows()).toEqual([]);
  });

  it('holds no e-mail, no name of an organization, no password and no token', async () => {
    const text = JSON.stringify(await service.db.query('SELECT * FROM events'));
    const { owner, admin, member, outsider, org } = cast;
    const secrets = [owner, admin, member, outsider].flatMap(({ email, password, token }) => [
      email,
      password,
      token,
    ]);
    expect(text.length).toBeGreaterThan(1000);
    expect([...secrets, org.name].filter((secret) => text.includes(secret))).toEqual([]);
  });
});

describe('the beginning of the feed', async () => {
  const { db } = service;
  const billing = await aServiceCaller(service, 'events');

  beforeEach(async () => {
    // A round that has read the events would put them into the feed that is emptied.
    await untilNumbered(db);
    await db.query('DELETE FROM events');
    await db.query('DELETE FROM feed');
  });

  const places = async (): Promise<unknown[]> =>
    (await db.query('SELECT event_id AS place FROM feed ORDER BY seq')).map(({ place }) => place);
  const deleteEvents = (ids: readonly string[]) =>
    db.query(`DELETE FROM events WHERE id IN (${ids.map(() => '?').join()})`, [...ids]);

  it('is a place of no event, so that a cursor of now is never the start', async () => {
    const { events, next } = await readFeed(billing);
    expect([events, await places()]).toEqual([[], [next]]);
    expect(await readFeed(billing, { after: 'start' })).toEqual({ events: [], next });
    const [id] = await writeEvents(db, [{}]);
    for (const after of [next, 'start'])
      expect(await readFeed(billing, { after })).toMatchObject({ events: [{ id }], next: id });
    await db.query('DELETE FROM feed');
    expect(await billing.get(`/api/events?after=${next}`)).toMatchObject(cursorExpired);
  });

  it('is behind places that have lost their events, however few a reader asks for', async () => {
    const ids = await writeEvents(db, [{}, {}, {}, {}, {}, {}, {}]);
    await untilNumbered(db);
    await deleteEvents(ids.slice(0, 5));
    for (const limit of [1, 2, 3, 6, 100]) {
      const { events, next } = await readFeed(billing, { after: 'start', limit });
      expect([limit, ...events.map(({ id }) => id)]).toEqual([limit, ...ids.slice(5, 5 + limit)]);
      expect(next).toBe(events.at(-1)!.id);
    }
    await deleteEvents(ids);
    expect(await readFeed(billing, { after: 'start', limit: 1 })).toEqual({ events: [], next: ids[6] });
  });
});
