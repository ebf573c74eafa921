import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { invalidCode } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { anAccount, aPassword } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { startOwnService } from '../support/service.js';
import { freePort } from '../../tooling/servers/free-port.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

interface Listed {
  id: string;
  kind: string;
  recipient: string;
  state: string;
  attempts: number;
  nextAttemptAt: string | null;
  lastError: string | null;
}

const resetCode = (email: string) => ['users', 'reset-code', email, '--reason', 'gets no mail'];

const installation = await anInstallation();
const port = await freePort();
const service = await startOwnService({
  installation,
  env: {
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    MAIL_FROM: 'no-reply@accounts.example',
    RATE_LIMIT_REGISTER: 'off',
  },
});
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

describe('accounts mail, and codes that operators hand out', () => {
  const list = (...parameters: string[]) =>
    accountsJson<Listed>(installation, ['mail', 'list', ...parameters]);
  const reset = (email: string, code: string, newPassword = aPassword()) =>
    service.anyone.post('/api/auth/password/reset', { email, code, newPassword });

  it('lists what waits, without a code, and sends it at once', async () => {
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });
    await waitFor('an attempt has failed', hangTimeoutMs(), async () => {
      const [mail] = await list('--to', email);
      return mail !== undefined && mail.attempts > 2;
    });
    const [mail] = await list('--to', email, '--state', 'waiting');
    expect(mail).toMatchObject({
      kind: 'password_reset',
      recipient: email,
      nextAttemptAt: expect.stringMatching(/Z$/),
      lastError: expect.stringMatching(/^E/),
    });
    const { stdout } = await accounts(installation, ['mail', 'list']);
    expect(stdout).toContain(`waiting  ${mail!.id}  password_reset  ${email}`);

    // However long the command takes, it is what sends the mail.
    await service.db.query('UPDATE mails SET next_attempt_at = ? WHERE id = ?', [
      Date.now() + 86_400_000,
      mail!.id,
    ]);
    const mailServer = await MailServer.start({ port });
    expect(await accountsJson(installation, ['mail', 'retry', mail!.id])).toEqual([{ retried: 1 }]);
    const { code } = await mailServer.next(email);
    await waitFor('it is noted', hangTimeoutMs(), async () => (await list('--to', email)).length === 0);
    const sent = await list('--to', email, '--state', 'sent');
    await mailServer.stop();

    expect(sent).toMatchObject([
      { id: mail!.id, state: 'sent', nextAttemptAt: null, lastError: null, attempts: 1 },
    ]);
    expect(JSON.stringify(sent) + stdout).not.toContain(code);
    expect(await accounts(installation, ['mail', 'retry', mail!.id])).toMatchObject({
      code: 1,
      stderr: 'refused: the mail is sent (mail_ended)\n',
    });
  });

  it('retries all that failed, and none that expired', async () => {
    const [one, other] = [await anAccount(service), await anAccount(service)];
    for (const { email } of [one, other]) await service.anyone.post('/api/auth/password/forgot', { email });
    const failed = "UPDATE mails SET state = 'failed', expires_at = ? WHERE recipient = ?";
    await service.db.query(failed, [Date.now() + 600_000, one.email]);
    await service.db.query(failed, [Date.now() - 1, other.email]);
    const [expired] = await list('--to', other.email, '--state', 'failed');

    expect(await accountsJson(installation, ['mail', 'retry', '--failed'])).toEqual([{ retried: 1 }]);

    expect(await list('--to', one.email)).toMatchObject([{ state: 'waiting' }]);
    expect(await accounts(installation, ['mail', 'retry', expired!.id])).toMatchObject({
      code: 1,
      stderr: 'refused: the mail is expired (mail_ended)\n',
    });
  });

  it('refuses to send a mail whose code is void, and lists what was dropped', async () => {
    const { email } = await anAccount(service);
    await service.anyone.post('/api/auth/password/forgot', { email });
    const ofReset = async () => (await list('--to', email)).find(({ kind }) => kind === 'password_reset');
    await waitFor('an attempt has failed', hangTimeoutMs(), async () => (await ofReset())?.lastError != null);
    const mail = await ofReset();
    // The worker would drop it before the command comes.
    const postpone = () =>
      service.db.query("UPDATE mails SET next_attempt_at = ? WHERE id = ? AND state = 'waiting'", [
        Date.now() + 3_600_000,
        mail!.id,
      ]);
    await postpone();
    await accountsJson(installation, ['users', 'set-password', email, '--generate']);
    await postpone();

    expect(await accounts(installation, ['mail', 'retry', mail!.id])).toMatchObject({
      code: 1,
      stderr: 'refused: its code was used, replaced or voided (mail_obsolete)\n',
    });

    await waitFor('it is dropped', hangTimeoutMs(), async () => {
      await service.db.query("UPDATE mails SET next_attempt_at = 1 WHERE id = ? AND state = 'waiting'", [
        mail!.id,
      ]);
      return (await ofReset())?.state === 'dropped';
    });
  });

  it('hands out a code that sets a password once, and proves no e-mail', async () => {
    const { id, email } = await anAccount(service);
    const known = await knownEvents(service.db);
    const [handed] = await accountsJson<{ id: string; email: string; code: string; expiresAt: string }>(
      installation,
      resetCode(email),
    );
    expect(handed).toEqual({
      id,
      email,
      code: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/),
      expiresAt: expect.stringMatching(/Z$/),
    });
    const issued = await eventsSince(service.db, known);
    expect(issued).toMatchObject([
      { type: 'account.reset_code_issued', actor_type: 'operator', user_id: id, reason: 'gets no mail' },
    ]);
    expect(JSON.stringify(issued)).not.toContain(handed!.code);

    expect((await reset(email, handed!.code)).status).toBe(200);

    expect(await reset(email, handed!.code)).toMatchObject(invalidCode);
    const [row] = await service.db.query('SELECT email_verified_at, revision FROM users WHERE id = ?', [id]);
    expect(row).toEqual({ email_verified_at: null, revision: 3 });
    expect((await eventsSince(service.db, known)).map(({ type }) => type)).toEqual([
      'account.password_changed',
      'account.reset_code_issued',
      'session.ended',
    ]);
  });

  it('hands out no code without a reason, and shows it to the user without', async () => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);

    const refused = await accounts(installation, ['users', 'reset-code', user.email]);

    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe("error: required option '--reason <TEXT>' not specified\n");
    expect(await eventsSince(service.db, known)).toEqual([]);
    await accountsJson(installation, [...resetCode(user.email), '--as', 'root']);
    const { body } = await user.get<{ events: object[] }>('/api/me/events?limit=1');
    expect(body.events).toMatchObject([
      { type: 'account.reset_code_issued', actor: { type: 'operator', id: 'root' }, data: {} },
    ]);
    expect(JSON.stringify(body)).not.toContain('gets no mail');
  });

  it('hands out no code for a disabled account', async () => {
    const { email } = await anAccount(service);
    await accountsJson(installation, ['users', 'disable', email]);

    expect(await accounts(installation, resetCode(email))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'refused: the account is disabled (account_disabled)\n',
    });
  });

  it('voids codes when an operator sets a password', async () => {
    const { email } = await anAccount(service);
    const [handed] = await accountsJson<{ code: string }>(installation, resetCode(email));

    await accountsJson(installation, ['users', 'set-password', email, '--generate']);

    expect(await reset(email, handed!.code)).toMatchObject(invalidCode);
  });
});
