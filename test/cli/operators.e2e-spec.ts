import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { invalidCode, operatorProtected, operatorRequired } from '../support/expected.js';
import { enrol } from '../support/enrolment.js';
import { anInstallation } from '../support/installation.js';
import { anOperator, makeOperator, showSecondFactor } from '../support/operators.js';
import { type Account, anAccount } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';

const BY_ROOT = ['--as', 'root', '--reason', 'a test'];

const installation = await anInstallation();
const service = await startOwnService({ installation, env: { RATE_LIMIT_REGISTER: 'off' } });
const support = await anOperator(service, 'support');
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

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

    expect(await run('grant', ada.email, ...BY_ROOT)).toEqual([
      { id: ada.id, email: ada.email, changed: true },
    ]);
    expect(await run('grant', ada.id, ...BY_ROOT)).toMatchObject([{ changed: false }]);
    expect((await enable(ada, user)).status).toBe(200);
    expect(await enable(support, ada)).toMatchObject(operatorProtected);
    expect((await run('list')).find(({ id }) => id === ada.id)).toEqual({
      id: ada.id,
      email: ada.email,
      operatorSince: expect.stringMatching(/Z$/),
      disabledAt: null,
      secondFactorAt: expect.stringMatching(/Z$/),
    });
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

  it('grants nothing to an account without a second factor, unless forced, or to a disabled one', async () => {
    const ada = await anAccount(service, 'ada');
    const known = await knownEvents(service.db);

    const refused = await accounts(installation, ['operators', 'grant', ada.email]);

    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^refused: the account has no second factor, .*\(second_factor_required\)\n$/,
    );
    expect(await eventsSince(service.db, known)).toEqual([]);
    expect(await run('grant', ada.email, '--force', ...BY_ROOT)).toMatchObject([{ changed: true }]);
    expect(await eventsSince(service.db, known)).toMatchObject([{ data: { force: true } }]);
    const { stdout } = await accounts(installation, ['operators', 'list']);
    expect(stdout).toMatch(new RegExp(`^${ada.id}  ${ada.email}  since \\S+Z  NO SECOND FACTOR$`, 'm'));
    await run('revoke', ada.email);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    expect(await accounts(installation, ['operators', 'grant', ada.email, '--force'])).toMatchObject({
      code: 1,
      stderr: 'refused: the account is disabled (account_disabled)\n',
    });
  });

  it('voids a code for the password that another operator had issued before the grant', async () => {
    const ada = await anAccount(service, 'ada');
    const issued = await support.post<{ code: string }>(`/api/operators/users/${ada.id}/reset-code`, {
      reason: 'a test',
    });

    await run('grant', ada.email, '--force');

    const reset = { email: ada.email, code: issued.body.code, newPassword: 'taken over by another' };
    expect(await service.anyone.post('/api/auth/password/reset', reset)).toMatchObject(invalidCode);
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
    expect(stdout).toMatch(/the second factor is removed, .* no longer an operator\n$/);
    const [again] = await accountsJson(installation, command);
    expect(again).toEqual({ id: grace.id, email: grace.email, changed: false, operatorRevoked: false });

    await enrol(ada);
    expect(await enable(ada, user)).toMatchObject(operatorRequired);
    const revoked = (await eventsSince(service.db, known)).filter(
      ({ type }) => type === 'account.operator_revoked',
    );
    expect(revoked).toMatchObject([
      { actor_type: 'user', actor_id: ada.id, user_id: ada.id, data: {} },
      { actor_type: 'operator', actor_id: 'root', user_id: grace.id, data: {}, reason: 'a test' },
    ]);
  });

  it('leaves nothing of a deleted operator, not even their address in what they did to others', async () => {
    const [ada, user] = [await anAccount(service, 'ada'), await anAccount(service)];
    await run('grant', ada.email, '--force');
    await showSecondFactor(service, ada);
    expect(
      (await ada.post(`/api/operators/users/${user.id}/verify-email`, { reason: 'a test' })).status,
    ).toBe(200);
    const did = async () =>
      service.db.query("SELECT ip FROM events WHERE actor_type = 'operator' AND actor_id = ?", [ada.id]);
    expect(await did()).toEqual([{ ip: '127.0.0.1' }]);
    // Long ago: what was done in the last minute is found by its time. Addresses older than 90 days are cleared anyway.
    const daysAgo = { 'account.operator_granted': 365, 'account.email_verified': 89 };
    for (const [type, days] of Object.entries(daysAgo)) {
      const time = (Date.now() - days * 86_400_000).toString(16).padStart(12, '0');
      const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
      await service.db.query('UPDATE events SET id = ? WHERE type = ? AND (user_id = ? OR actor_id = ?)', [
        id,
        type,
        ada.id,
        ada.id,
      ]);
    }

    expect(await accounts(installation, ['users', 'delete', ada.email])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^refused: .* operator.*--force.* \(operator_protected\)\n$/) as string,
    });
    expect(await did()).toEqual([{ ip: '127.0.0.1' }]);
    await accountsJson(installation, ['users', 'delete', ada.email, '--force']);

    expect(await did()).toEqual([{ ip: null }]);
    expect((await run('list')).map(({ id }) => id)).not.toContain(ada.id);
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
