import { describe, expect, it } from 'vitest';
import { type Answer, theOneOf } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import {
  anId,
  emailTaken,
  invalidFields,
  lastOwner,
  memberNotFound,
  methodNotAllowed,
  operatorProtected,
  operatorRequired,
  orgNotFound,
  userNotFound,
} from '../support/expected.js';
import { insertApiKey } from '../support/api-keys.js';
import { answerAfter } from '../support/held-rows.js';
import { allRows, insertColumns, insertRow } from '../support/rows.js';
import { anInvitation, revoke } from '../support/inviting.js';
import { anOperator, makeOperator } from '../support/operators.js';
import type { Account, Org } from '../support/personas.js';
import { anAccount, anEmail, anOrg, anOrgOf, anUnknownId, join } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { startSharedCluster } from '../support/service.js';
import { aServiceClient } from '../support/services.js';

const REASON = 'ticket 4711: the caller named the last invoice';

/** What a change is about: an account, an organization that others own, a failed mail, a service and API keys for it. */
interface Targets {
  user: Account;
  org: Org;
  owner: Account;
  mailId: string;
  name: string;
  /** the account's own */
  keyId: string;
  /** of the organization, by the account */
  orgKeyId: string;
}

interface Change {
  path: (targets: Targets) => string;
  body?: (targets: Targets) => object;
  /** makes the change one that changes something */
  prepare?: (targets: Targets) => Promise<unknown>;
  status?: number;
  /** by default `{ ok: true }` */
  answer?: (targets: Targets) => object;
  /** the only event, or the first of those that follow from it */
  event: (targets: Targets) => object;
  follows?: string[];
  /** whether it does something again, or finds nobody, when it is repeated */
  again?: true;
}

const BELOW = '/api/operators/';
const OK = { ok: true };
const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);

const cluster = await startSharedCluster();
const service = cluster.instances[0]!;
const operator = await anOperator(service);

const post = <Body = object>(path: string, body: object = {}): Promise<Answer<Body>> =>
  operator.post<Body>(BELOW + path, { reason: REASON, ...body });

describe('operators over HTTP', () => {
  async function theTargets(): Promise<Targets> {
    const { db } = service;
    const [user, owner] = await Promise.all([anAccount(service, 'user'), anAccount(service, 'owner')]);
    const org = await anOrgOf(owner);
    await join(org, owner, user, 'member');
    const mailId = anUnknownId();
    await insertColumns(db, 'mails', 'id, kind, recipient, state, created_at, next_attempt_at, ended_at', [
      [mailId, 'password_changed', user.email, 'failed', 1, 1, 1],
    ]);
    const { name } = await aServiceClient(db);
    const [{ id: keyId }, { id: orgKeyId }] = [
      await insertApiKey(service, user, { name }),
      await insertApiKey(service, user, { name }, { orgId: org.id }),
    ];
    return { user, org, owner, mailId, name, keyId, orgKeyId };
  }

  const set = (sql: string, id: string) => service.db.query(sql, [id]);
  const ofUser = (path: string, type: string, more: Partial<Change> = {}): Change => ({
    path: ({ user }) => `users/${user.id}/${path}`,
    event: ({ user }) => ({ type, user_id: user.id }),
    answer: ({ user: { email } }) => ({ ok: true, email }),
    ...more,
  });
  const ofOrg = (path: string, type: string, more: Partial<Change> = {}): Change => ({
    path: ({ org }) => `orgs/${org.id}/${path}`,
    event: ({ org }) => ({ type, org_id: org.id }),
    ...more,
  });
  const ofService = (path: string, type: string, more: Partial<Change> = {}): Change => ({
    path: ({ name }) => `services/${name}/${path}`,
    event: ({ name }) => ({ type, data: { service: name } }),
    ...more,
  });

  const endsOneSession = ({ user: { email } }: Targets) => ({ ok: true, email, sessionsEnded: 1 });

  const ACCOUNT_CHANGES: Record<string, Change> = {
    'disabling an account': ofUser('disable', 'account.disabled', {
      follows: ['session.ended'],
      answer: endsOneSession,
    }),
    'enabling an account': ofUser('enable', 'account.enabled', {
      prepare: ({ user }) => set('UPDATE users SET disabled_at = 1 WHERE id = ?', user.id),
    }),
    'ending sessions': ofUser('end-sessions', 'session.ended', { again: true, answer: endsOneSession }),
    'verifying an e-mail': ofUser('verify-email', 'account.email_verified'),
    'removing a second factor': ofUser('remove-second-factor', 'account.second_factor_removed', {
      prepare: async ({ user }) => {
        const columns = 'user_id, secret, last_step, enabled_at';
        await insertColumns(service.db, 'second_factors', columns, [[user.id, 'sealed', 0, 1]]);
        await set('UPDATE users SET second_factor_at = 1 WHERE id = ?', user.id);
      },
      follows: ['session.ended'],
      // The session was opened before the factor that was put there, so it was not valid.
      answer: ({ user: { email } }) => ({ ok: true, email, sessionsEnded: 0 }),
    }),
    'lifting login limits': ofUser('unblock', 'account.unblocked', { again: true }),
    'issuing a code for a password': ofUser('reset-code', 'account.reset_code_issued', {
      again: true,
      status: 201,
      answer: () => ({ code: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/), expiresAt: aTime }),
      event: ({ user }) => ({ type: 'account.reset_code_issued', user_id: user.id, data: {} }),
    }),
    'deleting an account': ofUser('delete', 'account.deleted', {
      again: true,
      follows: ['member.removed', 'session.ended'],
      answer: endsOneSession,
    }),
    'setting a role': ofOrg('', 'member.role_changed', {
      path: ({ user, org }) => `orgs/${org.id}/members/${user.id}/role`,
      body: () => ({ role: 'admin' }),
      answer: ({ user: { email } }) => ({ ok: true, email }),
      event: ({ user, org }) => ({
        type: 'member.role_changed',
        user_id: user.id,
        org_id: org.id,
        data: { from: 'member', to: 'admin' },
      }),
    }),
    'removing a member': ofOrg('', 'member.removed', {
      again: true,
      path: ({ user, org }) => `orgs/${org.id}/members/${user.id}/remove`,
      answer: ({ user: { email } }) => ({ ok: true, email }),
      event: ({ user, org }) => ({
        type: 'member.removed',
        user_id: user.id,
        org_id: org.id,
        data: { role: 'member', reason: 'removed' },
      }),
    }),
    'making an owner': ofOrg('owners', 'member.role_changed', {
      body: ({ user }) => ({ userId: user.id }),
      answer: ({ user: { email } }) => ({ ok: true, email }),
      event: ({ user, org }) => ({ type: 'member.role_changed', user_id: user.id, org_id: org.id }),
    }),
  };
  const OTHER_CHANGES: Record<string, Change> = {
    'deleting an organization': ofOrg('delete', 'org.deleted', {
      answer: () => ({ ok: true, purgeAt: aTime }),
    }),
    'restoring an organization': ofOrg('restore', 'org.restored', {
      prepare: ({ owner, org }) => owner.delete(`/api/orgs/${org.id}`),
      answer: ({ org: { id, name } }) => ({ org: { id, name } }),
      event: ({ org }) => ({ type: 'org.restored', org_id: org.id, data: {} }),
    }),
    'sending a mail now': {
      again: true,
      path: ({ mailId }) => `mails/${mailId}/retry`,
      event: ({ mailId }) => ({ type: 'mail.retried', data: { mailId } }),
    },
    'disabling a service': ofService('disable', 'service.disabled', { follows: ['service.tokens_ended'] }),
    'enabling a service': ofService('enable', 'service.enabled', {
      prepare: ({ name }) => set('UPDATE services SET disabled_at = 1 WHERE name = ?', name),
    }),
  };
  const ofProvider = (path: string, disabledAt: number | null): Change => ({
    path: ({ name }) => `providers/${name}/${path}`,
    prepare: ({ name }) => {
      const row = { id: anUnknownId(), name, disabled_at: disabledAt };
      return insertRow(service.db, 'providers', row);
    },
    event: ({ name }) => ({ type: `provider.${path}d`, data: { provider: name } }),
  });
  const PROVIDER_CHANGES: Record<string, Change> = {
    'disabling a provider': ofProvider('disable', null),
    'enabling a provider': ofProvider('enable', 1),
  };
  const KEY_CHANGES: Record<string, Change> = {
    "revoking a user's own API key": {
      again: true,
      path: ({ keyId }) => `keys/${keyId}/revoke`,
      event: ({ user, keyId }) => ({
        type: 'key.revoked',
        user_id: user.id,
        org_id: null,
        data: { keyId, reason: 'operator' },
      }),
    },
    'revoking an API key of an organization': {
      again: true,
      path: ({ orgKeyId }) => `keys/${orgKeyId}/revoke`,
      event: ({ user, org, orgKeyId }) => ({
        type: 'key.revoked',
        user_id: user.id,
        org_id: org.id,
        data: { keyId: orgKeyId, reason: 'operator' },
      }),
    },
  };
  const USER_CREATION: Record<string, Change> = {
    'creating a user': {
      again: true,
      path: () => 'users',
      body: ({ name }) => ({ email: `${name}@example.com`, name: 'Grace Hopper', verified: true }),
      status: 201,
      answer: ({ name }) => ({
        user: {
          id: anId,
          email: `${name}@example.com`,
          emailVerified: true,
          createdAt: aTime,
          disabledAt: null,
          operator: false,
          secondFactor: false,
          name: 'Grace Hopper',
          avatarUrl: null,
          locale: null,
          passwordChangedAt: null,
          lastLoginAt: null,
          failedLogins: { count: 0, lastAt: null, lastIp: null },
        },
        code: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/),
        expiresAt: aTime,
      }),
      event: () => ({ type: 'account.registered', user_id: anId, data: { via: 'operator' } }),
    },
  };
  const CHANGES = {
    ...ACCOUNT_CHANGES,
    ...OTHER_CHANGES,
    ...PROVIDER_CHANGES,
    ...KEY_CHANGES,
    ...USER_CREATION,
  };

  const ask = (by: Account, change: Change, targets: Targets, reason: unknown = REASON): Promise<Answer> =>
    by.post(BELOW + change.path(targets), { ...change.body?.(targets), reason });
  /** The same change of another account. */
  const about = (targets: Targets, user: Account): Targets => ({ ...targets, user });

  it.each(Object.entries(CHANGES))(
    '%s is done and recorded once, with who did it, where and why; repeated, it records nothing',
    async (_what, change) => {
      const targets = await theTargets();
      await change.prepare?.(targets);
      const known = await knownEvents(service.db);

      const answer = await ask(operator, change, targets);

      expect([answer.status, answer.body]).toEqual([change.status ?? 200, change.answer?.(targets) ?? OK]);
      const events = await eventsSince(service.db, known);
      const types = [(change.event(targets) as { type: string }).type, ...(change.follows ?? [])];
      expect(events.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
      for (const event of events)
        expect(event).toMatchObject({ actor_type: 'operator', actor_id: operator.id, reason: REASON });
      expect(events.find(({ type }) => type === types[0])).toMatchObject(change.event(targets));
      const [row] = await service.db.query(
        'SELECT DISTINCT actor_session_id, actor_email, ip, request_id FROM events WHERE reason = ? ORDER BY id DESC LIMIT 1',
        [REASON],
      );
      expect(row).toEqual({
        actor_session_id: expect.stringMatching(/^[\da-f-]{36}$/),
        actor_email: operator.email,
        ip: '127.0.0.1',
        request_id: expect.stringMatching(/./),
      });
      const emails = await service.db.query('SELECT email FROM operator_emails WHERE user_id = ?', [
        operator.id,
      ]);
      expect(emails).toEqual([{ email: operator.email }]);
      if (change.again === true) return;
      const after = await knownEvents(service.db);
      const again = await ask(operator, change, targets);
      const body = answer.body as object;
      const unchanged = 'sessionsEnded' in body ? { ...body, sessionsEnded: 0 } : body;
      expect([again.status, again.body]).toEqual([answer.status, unchanged]);
      expect(await eventsSince(service.db, after)).toEqual([]);
    },
  );

  /** Rows of others change meanwhile: sessions that ended are deleted in the background. */
  async function rowsNaming(
    { user, owner, org, mailId, name }: Targets,
    ...others: Account[]
  ): Promise<string[]> {
    const accounts = [user, owner, ...others].flatMap(({ id, email }) => [id, email]);
    const names = [...accounts, org.id, mailId, name];
    const rows = Object.values(await allRows(service.db)).flat();
    return rows.filter((row) => names.some((one) => row.includes(one)));
  }

  it('every change needs a reason', async () => {
    const targets = await theTargets();
    const before = await rowsNaming(targets);
    expect(before.length).toBeGreaterThan(10);
    const texts = ['', '  ', 'x'.repeat(201), 'a\nb', '\u0000', '\ud800'];
    const wrong = [undefined, 7, null, ['a'], { a: 1 }, ...texts];
    for (const [what, change] of Object.entries(CHANGES)) {
      for (const reason of wrong) {
        const answer = await operator.post(BELOW + change.path(targets), {
          ...change.body?.(targets),
          reason,
        });
        expect(answer, `${what} for ${JSON.stringify(reason)}`).toMatchObject(invalidFields('reason'));
      }
      expect(await operator.post(BELOW + change.path(targets), {}), what).toMatchObject({ status: 400 });
      expect((await operator.post(BELOW + change.path(targets))).status, what).toBe(400);
    }
    expect(await post(`users/${targets.user.id}/delete`, { force: 'true' })).toMatchObject(
      invalidFields('force'),
    );
    expect(await rowsNaming(targets)).toEqual(before);
  });

  it('a change that changes nothing ends no session, and says so', async () => {
    const { user } = await theTargets();
    const { body } = await post(`users/${user.id}/remove-second-factor`);
    expect(body).toEqual({ ok: true, email: user.email, sessionsEnded: 0 });
    expect((await user.get('/api/me')).status).toBe(200);
  });

  it('200 characters of any script are a reason', async () => {
    const targets = await theTargets();
    const known = await knownEvents(service.db);
    const reason = '理由😀'.repeat(66) + 'ok';
    expect((await ask(operator, CHANGES['verifying an e-mail']!, targets, ` ${reason} `)).status).toBe(200);
    expect(await eventsSince(service.db, known)).toMatchObject([{ reason }]);
  });

  it('whom a shell revokes is refused at the next request, on every instance', async () => {
    const { user } = await theTargets();
    const revoked = await anOperator(service);
    const askAll = () =>
      Promise.all(
        cluster.instances.map((instance) =>
          revoked.at(instance).post(`/api/operators/users/${user.id}/verify-email`, { reason: REASON }),
        ),
      );
    for (const { status } of await askAll()) expect(status).toBe(200);
    await service.db.query('UPDATE users SET operator_since = NULL WHERE id = ?', [revoked.id]);
    for (const answer of await askAll()) expect(answer).toMatchObject(operatorRequired);
  });

  it('nothing that is not there is changed', async () => {
    const { user, org } = await theTargets();
    for (const id of [anUnknownId(), 'x', '1 OR 1=1']) {
      const at = encodeURIComponent(id);
      const paths: [path: string, code: string, body?: object][] = [
        ...'disable enable unblock end-sessions verify-email remove-second-factor reset-code delete'
          .split(' ')
          .map((path): [string, string] => [`users/${at}/${path}`, 'user_not_found']),
        [`orgs/${at}/owners`, 'org_not_found', { userId: user.id }],
        [`orgs/${at}/members/${user.id}/role`, 'org_not_found', { role: 'member' }],
        [`orgs/${org.id}/members/${at}/role`, 'user_not_found', { role: 'member' }],
        [`orgs/${at}/members/${user.id}/remove`, 'org_not_found'],
        [`orgs/${org.id}/members/${at}/remove`, 'user_not_found'],
        [`orgs/${at}/restore`, 'org_not_found'],
        [`orgs/${at}/delete`, 'org_not_found'],
        [`mails/${at}/retry`, 'mail_not_found'],
        [`services/${at}/disable`, 'service_not_found'],
        [`services/${at}/enable`, 'service_not_found'],
        [`keys/${at}/revoke`, 'key_not_found'],
      ];
      for (const [path, code, body] of paths) {
        expect(await post(path, body), path).toMatchObject({ status: 404, body: { code } });
        expect(await operator.post(BELOW + path, { ...body }), path).toMatchObject(invalidFields('reason'));
      }
    }
    expect(await post(`orgs/${org.id}/owners`, { userId: anUnknownId() })).toMatchObject(userNotFound);
    expect(await post(`users/${user.id}`)).toMatchObject(methodNotAllowed);
  });

  describe('force', () => {
    it.each(['disable', 'delete'])(
      'is needed to %s an only owner, and names what is left without one',
      async (path) => {
        const { owner, org, user } = await theTargets();
        const alone = await anOrgOf(owner);
        const at = `users/${owner.id}/${path}`;
        const rows = await allRows(service.db);
        const refused = await post<{ orgs: { id: string }[] }>(at);
        expect(refused).toMatchObject(lastOwner);
        expect(refused.body.orgs.map(({ id }) => id).toSorted()).toEqual([org.id, alone.id].toSorted());
        expect((await allRows(service.db))['events']).toEqual(rows['events']);
        const forced = await post<{ orphanedOrgs: { id: string }[] }>(at, { force: true });
        expect(forced).toMatchObject({ status: 200, body: { ok: true } });
        expect(forced.body.orphanedOrgs.toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
          { id: org.id, name: org.name, isDeleted: false },
          { id: alone.id, name: alone.name, isDeleted: path === 'delete' },
        ]);
        const other = await post(`users/${user.id}/${path}`, { force: true });
        expect(other.body).toEqual({ ok: true, email: user.email, sessionsEnded: 1, orphanedOrgs: [] });
      },
    );

    it('adds an owner who was no member', async () => {
      const { org } = await theTargets();
      const outsider = await anAccount(service);
      const [at, userId] = [`orgs/${org.id}/owners`, outsider.id];
      expect(await post(at, { userId })).toMatchObject(memberNotFound);
      expect((await post(at, { userId, force: true })).status).toBe(200);
      expect((await outsider.patch(`/api/orgs/${org.id}`, { name: 'Difference Engines' })).status).toBe(200);
    });

    it('restores an organization whose owners are gone, unless its purge has begun', async () => {
      const { owner, org } = await theTargets();
      const at = `orgs/${org.id}/restore`;
      await owner.delete(`/api/orgs/${org.id}`);
      await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [owner.id]);
      const known = await knownEvents(service.db);
      expect(await post(at)).toMatchObject(lastOwner);
      await service.db.query('UPDATE orgs SET purge_began_at = 1 WHERE id = ?', [org.id]);
      expect(await post(at, { force: true })).toMatchObject(orgNotFound);
      await service.db.query('UPDATE orgs SET purge_began_at = NULL WHERE id = ?', [org.id]);
      expect((await post(at, { force: true })).status).toBe(200);
      expect(await eventsSince(service.db, known)).toMatchObject([
        { type: 'org.restored', data: { force: true } },
      ]);
    });
  });

  it('a user is created once by many operators at once, and not from bad input', async () => {
    const email = anEmail('grace');
    const at = cluster.instances.map((instance) => operator.at(instance));
    const create = (body: object, by = operator) =>
      by.post<{ code: string }>('/api/operators/users', { reason: REASON, ...body });
    const answers = await atOnce(times(50, (index) => () => create({ email }, at[index % at.length])));
    theOneOf(answers, 201, emailTaken);
    const cases: [body: object, field: string][] = [
      [{}, 'email'],
      ...['ada@', 'ada@example.com.', { $gt: '' }, ['a@b.co'], null, `${'x'.repeat(9000)}@b.co`].map(
        (wrong): [object, string] => [{ email: wrong }, 'email'],
      ),
      ...['', 'a\nb', 'x'.repeat(101), 7, ['a']].map((name): [object, string] => [
        { email: anEmail(), name },
        'name',
      ]),
      ...['yes', 1, null].map((verified): [object, string] => [{ email: anEmail(), verified }, 'verified']),
    ];
    const written = async () => {
      const { users, events, email_codes: codes, mails } = await allRows(service.db);
      return { users, events, codes, mails };
    };
    const before = await written();
    for (const [body, field] of cases)
      expect(await create(body), JSON.stringify(body).slice(0, 60)).toMatchObject(invalidFields(field));
    expect(await create({ email: operator.email })).toMatchObject(emailTaken);
    expect(await written()).toEqual(before);
  });

  it('a code that creates a password proves no email if an operator handed it out', async () => {
    const email = anEmail('grace');
    const created = await post<{ user: { id: string }; code: string }>('users', { email });
    const { code, user } = created.body;
    const reset = { email, code, newPassword: 'another horse battery' };
    service.installation.secrets.note(reset.newPassword);
    expect(JSON.stringify(await allRows(service.db))).not.toContain(code);
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(400);
    expect(await operator.get(`/api/operators/users/${user.id}`)).toMatchObject({
      body: { user: { emailVerified: false, passwordChangedAt: aTime } },
    });
  });

  it('a code sets a password once, and opens nothing else; a disabled account gets none', async () => {
    const { user } = await theTargets();
    const { code } = (await post<{ code: string }>(`users/${user.id}/reset-code`)).body;
    const reset = { email: user.email, code, newPassword: 'another horse battery' };
    service.installation.secrets.note(reset.newPassword);
    expect(await user.post('/api/me/email/verify', { code })).toMatchObject({ status: 400 });
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(400);
    expect(JSON.stringify(await allRows(service.db))).not.toContain(code);
    expect((await user.get('/api/me')).status).toBe(401);
    await post(`users/${user.id}/disable`);
    expect(await post(`users/${user.id}/reset-code`)).toMatchObject({
      status: 403,
      body: { code: 'account_disabled' },
    });
  });

  it('a removed service stays disabled, and a mail that was sent is not sent again', async () => {
    const { mailId, name } = await theTargets();
    await service.db.query('UPDATE services SET disabled_at = 1, removed_at = 1 WHERE name = ?', [name]);
    await service.db.query("UPDATE mails SET state = 'sent' WHERE id = ?", [mailId]);
    expect(await post(`services/${name}/enable`)).toMatchObject({
      status: 409,
      body: { code: 'service_removed' },
    });
    expect(await post(`mails/${mailId}/retry`)).toMatchObject({
      status: 409,
      body: { code: 'mail_ended' },
    });
  });

  it('the user and the admins see that an operator acted, but not from where, nor why', async () => {
    const targets = await theTargets();
    const { user, owner, org } = targets;
    await ask(operator, CHANGES['verifying an e-mail']!, targets);
    await ask(operator, CHANGES['making an owner']!, targets);
    const own = await user.get<{ events: object[] }>('/api/me/events');
    const inOrg = await owner.get<{ events: object[] }>(`/api/orgs/${org.id}/events?limit=1`);
    const [made, verified] = own.body.events;
    const actor = { type: 'operator', id: operator.id };
    expect(made).toMatchObject({ type: 'member.role_changed', actor: { ...actor, sessionId: null } });
    expect(verified).toMatchObject({ type: 'account.email_verified', ip: null, requestId: null });
    expect(inOrg.body.events).toMatchObject([{ type: 'member.role_changed', actor }]);
    const exported = await user.get('/api/me/export');
    const seen = own.text + inOrg.text + exported.text;
    for (const hidden of [REASON, operator.email]) expect(seen).not.toContain(hidden);
  });

  it('the email of an operator stays in the record when the email changes, and when they are deleted', async () => {
    const { user } = await theTargets();
    const other = await anOperator(service, 'other');
    await other.post(`/api/operators/users/${user.id}/verify-email`, { reason: REASON });
    const acts = async () => {
      const at = `/api/operators/events?actorId=${encodeURIComponent(other.email)}&userId=${user.id}`;
      return (await operator.get<{ events: object[] }>(at)).body.events;
    };
    const recorded = [{ type: 'account.email_verified', actor: { id: other.id, email: other.email } }];
    expect(await acts()).toMatchObject(recorded);
    await service.db.query('UPDATE users SET email = ?, operator_since = NULL WHERE id = ?', [
      anEmail(),
      other.id,
    ]);
    expect(await acts()).toMatchObject(recorded);
    expect((await post(`users/${other.id}/delete`)).status).toBe(200);
    expect(await acts()).toMatchObject(recorded);
  });

  describe('the account of an operator', () => {
    it('is changed by nobody over HTTP, the operator themselves included', async () => {
      const other = await anOperator(service, 'other');
      const targets = await theTargets();
      const body = { userId: other.id, force: true };
      await service.db.query('UPDATE users SET email_verified_at = NULL WHERE id = ?', [other.id]);
      const before = await rowsNaming(targets, other, operator);
      for (const user of [other, operator]) {
        for (const [what, change] of Object.entries(ACCOUNT_CHANGES))
          expect(await ask(operator, change, about(targets, user)), what).toMatchObject(operatorProtected);
      }
      // Nobody takes an organization, either.
      expect(await post(`orgs/${targets.org.id}/owners`, body)).toMatchObject(operatorProtected);
      expect(await rowsNaming(targets, other, operator)).toEqual(before);
    });

    it.each(Object.entries(ACCOUNT_CHANGES))(
      'is protected from the moment of the grant: %s',
      async (_what, change) => {
        const targets = await theTargets();
        await change.prepare?.(targets);
        const known = await knownEvents(service.db);
        const grant = 'UPDATE users SET operator_since = 1, revision = revision + 1 WHERE id = ?';
        const answer = await answerAfter(
          service,
          (held) => held.write(grant, [targets.user.id]),
          () => ask(operator, change, targets),
        );
        expect(answer).toMatchObject(operatorProtected);
        expect(await eventsSince(service.db, known)).toEqual([]);
      },
    );

    it('still belongs to its user', async () => {
      const { owner, org, admin } = await anOrg(service);
      await makeOperator(service, owner);
      expect((await owner.patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'owner' })).status).toBe(
        200,
      );
      expect((await owner.delete('/api/me', { password: owner.password })).status).toBe(200);
    });
  });
});

describe('a failed mail', () => {
  const at = () => Date.now() + 60_000;
  type Code = { id: string; number: number };
  async function failed(kind: string, recipient: string, code: Code): Promise<string> {
    const id = anUnknownId();
    const columns = 'id, kind, recipient, state, created_at, next_attempt_at, ended_at, code_id, code_number';
    await insertColumns(service.db, 'mails', columns, [
      [id, kind, recipient, 'failed', 1, 1, 1, code.id, code.number],
    ]);
    return id;
  }
  async function aCodeOf(purpose: string, subject: string): Promise<Code> {
    const id = anUnknownId();
    const columns = 'id, purpose, subject, email, code_number, tries, expires_at, purge_at';
    await insertColumns(service.db, 'email_codes', columns, [
      [id, purpose, subject, 'user@example.com', 3, 0, at(), at()],
    ]);
    return { id, number: 3 };
  }
  const retry = (id: string) => post(`mails/${id}/retry`);
  const obsolete = (detail: RegExp) => ({
    status: 409,
    body: { code: 'mail_obsolete', detail: expect.stringMatching(detail) as string },
  });

  it('of an invitation is sent again while it is pending, with the code of then', async () => {
    const { owner, org } = await anOrg(service);
    const invitation = await anInvitation(owner, org, { email: anEmail() });
    await service.db.query('UPDATE invitations SET code_shown = 0 WHERE id = ?', [invitation.id]);
    const mailId = await failed('invitation', invitation.email, { id: invitation.id, number: 1 });
    const older = await failed('invitation', invitation.email, { id: invitation.id, number: 0 });
    expect(await retry(older)).toMatchObject(obsolete(/invitation/));
    expect(await retry(mailId)).toMatchObject({ status: 200, body: { ok: true } });
    expect((await revoke(owner, org, invitation)).status).toBe(200);
    expect(await retry(mailId)).toMatchObject(obsolete(/invitation/));
  });

  it.each(['email_verification', 'email_change'])(
    'of the kind %s is, until its code is replaced',
    async (kind) => {
      const code = await aCodeOf(kind, anUnknownId());
      const mailId = await failed(kind, anEmail(), code);
      expect(await retry(mailId)).toMatchObject({ status: 200, body: { ok: true } });
      await service.db.query('UPDATE email_codes SET code_number = 4 WHERE id = ?', [code.id]);
      expect(await retry(mailId)).toMatchObject(obsolete(/code/));
    },
  );

  it('with a code for a new password is, until the code is used or the account disabled', async () => {
    const user = await anAccount(service, 'user');
    const code = await aCodeOf('password_reset', user.email);
    const mailId = await failed('password_reset', user.email, code);
    expect(await retry(mailId)).toMatchObject({ status: 200, body: { ok: true } });
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [user.id]);
    expect(await retry(mailId)).toMatchObject(obsolete(/user/));
    await service.db.query('UPDATE users SET disabled_at = NULL WHERE id = ?', [user.id]);
    await service.db.query('DELETE FROM email_codes WHERE id = ?', [code.id]);
    expect(await retry(mailId)).toMatchObject(obsolete(/code/));
  });

  it('that is refused stays as it is, and what has ended already is told first', async () => {
    const mailId = await failed('email_verification', anEmail(), { id: anUnknownId(), number: 1 });
    const [before] = await service.db.query('SELECT * FROM mails WHERE id = ?', [mailId]);
    expect(await retry(mailId)).toMatchObject(obsolete(/code/));
    expect(await service.db.query('SELECT * FROM mails WHERE id = ?', [mailId])).toEqual([before]);
    await service.db.query("UPDATE mails SET state = 'dropped' WHERE id = ?", [mailId]);
    expect(await retry(mailId)).toMatchObject({ status: 409, body: { code: 'mail_ended' } });
  });
});
