import { afterAll, describe, expect, it } from 'vitest';
import type { DataOf } from '../../client/src/index.ts';
import { accounts, accountsJson, BY_ROOT, failure } from '../support/accounts-command.js';
import { invalidEmailCode, operatorProtected, operatorRequired } from '../support/expected.js';
import { enrol, protect } from '../support/second-factor.js';
import { anOperator, makeOperator, showSecondFactor } from '../support/operators.js';
import { type Account, anAccount } from '../support/personas.js';
import { engine } from '../support/engine.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { idAt } from '../support/rows.js';
import { startOwnService } from '../support/service.js';

type Shown = DataOf<'adminGetService'>['service'] & { removedAt: string | null };
type Issued = Record<'name' | 'secretId' | 'secret', string>;

const A_TIME = expect.stringMatching(/Z$/) as string;

// On MariaDB, only what sends statements of its own: the operators' routes call the same functions.
const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off' } });
const { installation } = service;
const support = await anOperator(service, 'support');
afterAll(() => service.stop());

describe('accounts operators', () => {
  const run = (...parameters: string[]) =>
    accountsJson<Record<string, unknown>>(installation, ['operators', ...parameters]);
  const enable = (by: Account, target: Account) =>
    by.post(`/api/operators/users/${target.id}/enable`, { reason: 'a test' });

  it('grants and revokes at the next request, and leaves one row for each', async () => {
    const [ada, user] = [await anAccount(service, 'ada'), await anAccount(service)];
    await enrol(ada);
    const known = await knownEvents(service.db);
    expect(await enable(ada, user)).toMatchObject(operatorRequired);

    const granted = { id: ada.id, email: ada.email, changed: true };
    expect(await run('grant', ada.email, ...BY_ROOT)).toEqual([granted]);
    expect(await run('grant', ada.id, ...BY_ROOT)).toMatchObject([{ changed: false }]);
    expect((await enable(ada, user)).status).toBe(200);
    expect(await enable(support, ada)).toMatchObject(operatorProtected);
    const { id, email } = ada;
    const listed = { id, email, operatorSince: A_TIME, disabledAt: null, secondFactorAt: A_TIME };
    expect(await run('list')).toContainEqual(listed);
    expect(await run('revoke', ada.email, ...BY_ROOT)).toMatchObject([{ changed: true }]);
    expect(await run('revoke', ada.email, ...BY_ROOT)).toMatchObject([{ changed: false }]);

    expect(await enable(ada, user)).toMatchObject(operatorRequired);
    expect((await ada.get('/api/me')).status).toBe(200);
    const common = { actor_type: 'operator', actor_id: 'root', reason: 'a test', user_id: ada.id, data: {} };
    expect(await eventsSince(service.db, known)).toMatchObject([
      { ...common, type: 'account.operator_granted' },
      { ...common, type: 'account.operator_revoked' },
    ]);
  });

  it('leaves nothing of a deleted operator, not even their address in what they did to others', async () => {
    const [ada, user] = [await anAccount(service, 'ada'), await anAccount(service)];
    await run('grant', ada.email, '--force');
    await showSecondFactor(service, ada);
    const path = `/api/operators/users/${user.id}/verify-email`;
    expect((await ada.post(path, { reason: 'a test' })).status).toBe(200);
    const did = async () =>
      service.db.query("SELECT ip FROM events WHERE actor_type = 'operator' AND actor_id = ?", [ada.id]);
    expect(await did()).toEqual([{ ip: '127.0.0.1' }]);
    // After EVENTS_RETENTION, nothing says that the user was an operator.
    const grant = "DELETE FROM events WHERE user_id = ? AND type = 'account.operator_granted'";
    await service.db.query(grant, [ada.id]);
    const sql = "UPDATE events SET id = ? WHERE type = 'account.email_verified' AND actor_id = ?";
    await service.db.query(sql, [idAt(Date.now() - 89 * 86_400_000), ada.id]);

    expect(await accounts(installation, ['users', 'delete', ada.email])).toEqual(
      failure(1, /^refused: .* operator.*--force.* \(operator_protected\)\n$/),
    );
    expect(await did()).toEqual([{ ip: '127.0.0.1' }]);
    await accountsJson(installation, ['users', 'delete', ada.email, '--force']);

    expect(await did()).toEqual([{ ip: null }]);
    expect((await run('list')).map(({ id }) => id)).not.toContain(ada.id);
  });

  describe.runIf(engine === 'sqlite')('on any database', () => {
    it('grants nothing to an account without a second factor, unless forced, or to a disabled one', async () => {
      const ada = await anAccount(service, 'ada');
      const known = await knownEvents(service.db);

      expect(await accounts(installation, ['operators', 'grant', ada.email])).toEqual(
        failure(
          1,
          /^refused: the user does not use two-factor authentication, .*\(second_factor_required\)\n$/,
        ),
      );
      expect(await eventsSince(service.db, known)).toEqual([]);
      expect(await run('grant', ada.email, '--force', ...BY_ROOT)).toMatchObject([{ changed: true }]);
      expect(await eventsSince(service.db, known)).toMatchObject([{ data: { force: true } }]);
      const { stdout } = await accounts(installation, ['operators', 'list']);
      expect(stdout).toMatch(new RegExp(`^${ada.id}  ${ada.email}  since \\S+Z  NO 2FA$`, 'm'));
      await run('revoke', ada.email);
      await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
      expect(await accounts(installation, ['operators', 'grant', ada.email, '--force'])).toEqual(
        failure(1, 'refused: the user is disabled (account_disabled)\n'),
      );
    });

    it('voids a code for the password that another operator had issued before the grant', async () => {
      const ada = await anAccount(service, 'ada');
      const path = `/api/operators/users/${ada.id}/reset-code`;
      const issued = await support.post<{ code: string }>(path, { reason: 'a test' });
      await run('grant', ada.email, '--force');
      const reset = { email: ada.email, code: issued.body.code, newPassword: 'taken over by another' };
      expect(await service.anyone.post('/api/auth/password/reset', reset)).toMatchObject(invalidEmailCode);
    });

    it('revokes the grant of an operator whose second factor is removed, and says so', async () => {
      const { account: ada, app } = await protect(service, await anAccount(service, 'ada'));
      await makeOperator(service, ada);
      const [grace, user] = [await anOperator(service, 'grace'), await anAccount(service)];
      const known = await knownEvents(service.db);

      const removal = { password: ada.password, code: app.next() };
      expect((await ada.post('/api/me/second-factor/remove', removal)).status).toBe(200);
      const command = ['users', 'remove-second-factor', grace.email, ...BY_ROOT];
      const { stdout } = await accounts(installation, command);
      expect(stdout).toMatch(/two-factor authentication is off, .* no longer an operator\n$/);
      const [again] = await accountsJson(installation, command);
      expect(again).toEqual({ id: grace.id, email: grace.email, changed: false, operatorRevoked: false });

      await enrol(ada);
      expect(await enable(ada, user)).toMatchObject(operatorRequired);
      const events = await eventsSince(service.db, known);
      const revoked = events.filter(({ type }) => type === 'account.operator_revoked');
      expect(revoked).toMatchObject([
        { actor_type: 'user', actor_id: ada.id, user_id: ada.id, data: {} },
        { actor_type: 'operator', actor_id: 'root', user_id: grace.id, data: {}, reason: 'a test' },
      ]);
    });

    it('does to the account of an operator what it does to any', async () => {
      const ada = await anAccount(service, 'ada');
      await run('grant', ada.email, '--force');
      await accountsJson(installation, ['users', 'disable', ada.email]);
      expect(await enable(support, ada)).toMatchObject(operatorProtected);
      await accountsJson(installation, ['users', 'enable', ada.email]);
      expect((await run('list')).map(({ id }) => id)).toContain(ada.id);
    });
  });
});

describe('accounts services', () => {
  const SECRET = /^acs_[\w-]{43}$/;
  const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
  const run = (...parameters: string[]) => accounts(installation, ['services', ...parameters]);
  const done = async <T>(...parameters: string[]): Promise<T> =>
    (await accountsJson<T>(installation, ['services', ...parameters]))[0]!;
  const show = (name: string) => done<Shown>('show', name);

  it('leads a service from its first secret to its end, and records each change', async () => {
    const known = await knownEvents(installation.db);

    const first = await done<Issued>('add', 'billing', '--allow', 'events,introspect', ...BY_ROOT);
    const second = await done<Issued>('rotate', 'billing', ...BY_ROOT);
    const named = { name: 'billing' };
    const [a, b] = [first.secretId, second.secretId];
    expect(await done('allow', 'billing', 'memberships', ...BY_ROOT)).toEqual({ ...named, changed: true });
    const revoked = { ...named, secretId: a, changed: true, sessionsEnded: false };
    expect(await done('revoke-secret', 'billing', ...BY_ROOT)).toEqual(revoked);
    const live = { createdAt: A_TIME, disabledAt: null, removedAt: null };
    const secrets = [
      expect.objectContaining({ id: a, lastUsedAt: null, revokedAt: A_TIME }),
      expect.objectContaining({ id: b, lastUsedAt: null, revokedAt: null }),
    ];
    expect(await show('billing')).toEqual({
      ...named,
      ...live,
      allow: ['memberships'],
      calls: [],
      calledBy: [],
      secrets,
    });
    await done('revoke-secret', 'billing', b, '--end-sessions', ...BY_ROOT);
    for (const change of ['disable', 'enable', 'remove']) {
      expect(await done(change, 'billing', ...BY_ROOT)).toEqual({ ...named, changed: true });
    }
    expect(await done('remove', 'billing', ...BY_ROOT)).toEqual({ ...named, changed: false });

    const [secretId, secret] = [ID, SECRET].map((form) => expect.stringMatching(form) as unknown);
    const issued = { ...named, secretId, secret };
    expect([first, second]).toEqual([{ ...issued, allow: ['introspect', 'events'] }, issued]);
    const byRoot = { actor_type: 'operator', actor_id: 'root', reason: 'a test' };
    const common = { ...byRoot, org_id: null, user_id: null };
    const event = (type: string, data = {}) => ({ ...common, type, data: { service: 'billing', ...data } });
    const recorded = await eventsSince(installation.db, known);
    expect(recorded).toHaveLength(13);
    expect(recorded).toEqual(
      expect.arrayContaining([
        event('service.allowed', { from: 'introspect,events', to: 'memberships' }),
        event('service.created', { allow: 'introspect,events' }),
        event('service.disabled'),
        event('service.enabled'),
        event('service.removed'),
        event('service.secret_added', { secretId: a }),
        event('service.secret_added', { secretId: b }),
        event('service.secret_revoked', { secretId: a }),
        event('service.secret_revoked', { secretId: b }),
        event('service.sessions_ended'),
        event('service.tokens_ended'),
      ]),
    );
    const stored = JSON.stringify([recorded, await installation.db.query('SELECT * FROM service_secrets')]);
    for (const one of [first, second]) expect(stored).not.toContain(one.secret);
  });

  it('two rotations at once leave two live secrets', async () => {
    await done('add', 'rotated');
    const results = await Promise.all([run('rotate', 'rotated'), run('rotate', 'rotated')]);
    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 1]));
    expect((await show('rotated')).secrets).toHaveLength(2);
  });

  describe.runIf(engine === 'sqlite')('on any database', () => {
    it('prints to people what it prints to programs, a secret once and never a hash', async () => {
      const added = await run('add', 'printing');
      const [, secret] = /^secret: (\S+)$/m.exec(added.stdout)!;
      expect(secret).toMatch(SECRET);
      await done('add', 'archive', '--allow', 'introspect');
      await done('disable', 'archive');

      const shown = await run('show', 'printing');
      const listed = await run('list');

      expect(shown.stdout).toMatch(/^name +printing\nallow +none\n/);
      expect(shown.stdout).toMatch(/^secret +\S+ {2}since \S+Z, never used$/m);
      expect(listed.stdout).toMatch(/^archive +introspect {2}DISABLED\n/);
      expect(listed.stdout).toMatch(/^printing +none$/m);
      const [row] = await installation.db.query(
        "SELECT hash FROM service_secrets WHERE service = 'printing'",
      );
      for (const { stdout } of [added, shown, listed]) expect(stdout).not.toContain(String(row!['hash']));
      for (const { stdout } of [shown, listed]) expect(stdout).not.toContain(secret);
      const names = await accountsJson<Shown>(installation, ['services', 'list']);
      expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(['archive', 'printing']));
      const [one] = await accountsJson<Shown>(installation, ['services', 'list', '--limit', '1']);
      expect(one!.name).toBe('archive');
    });

    it.each<[string, string[], 1 | 2, RegExp]>([
      ['a name that is taken, or was', ['add', 'billing'], 1, /^refused: .*service_name_taken/],
      ['the value of JWT_AUDIENCE', ['add', 'accounts'], 1, /^refused: .*JWT_\w+.*service_name_reserved/],
      ['the only secret without its id', ['revoke-secret', 'printing'], 1, /^refused: .*secret_not_named/],
      ['a service that is not there', ['show', 'nobody'], 2, /^error: /],
      ['a name that is none', ['disable', 'a\nb'], 2, /^error: /],
      ['unknown scopes', ['add', 'wrong', '--allow', 'everything'], 2, /^error: /],
    ])('refuses %s, with one line', async (_what, parameters, code, message) => {
      const result = await run(...parameters);
      expect(result).toEqual(failure(code, message));
      expect(result.stderr).toMatch(/^[^\n]+\n$/);
    });
  });
});
