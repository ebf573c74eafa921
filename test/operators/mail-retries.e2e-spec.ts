import { afterAll, describe, expect, it } from 'vitest';
import { anInvitation, revoke } from '../support/inviting.js';
import { anOperator } from '../support/operators.js';
import { anAccount, anEmail, anOrg, anUnknownId } from '../support/personas.js';
import { startServiceWithoutLimits } from '../support/service.js';

const REASON = 'ticket 4711: the mail server was down';

const service = await startServiceWithoutLimits();
const operator = await anOperator(service);
afterAll(() => service.stop());

describe('a failed mail', () => {
  const at = () => Date.now() + 60_000;
  async function failed(
    kind: string,
    recipient: string,
    code: { id: string; number: number },
  ): Promise<string> {
    const id = anUnknownId();
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, ended_at, code_id, code_number)
        VALUES (?, ?, ?, 'failed', 1, 1, 1, ?, ?)`,
      [id, kind, recipient, code.id, code.number],
    );
    return id;
  }
  async function aCodeOf(purpose: string, subject: string): Promise<{ id: string; number: number }> {
    const id = anUnknownId();
    await service.db.query(
      `INSERT INTO email_codes (id, purpose, subject, email, code_number, tries, expires_at, purge_at)
        VALUES (?, ?, ?, 'user@example.com', 3, 0, ?, ?)`,
      [id, purpose, subject, at(), at()],
    );
    return { id, number: 3 };
  }
  const retry = (id: string) => operator.post(`/api/operators/mails/${id}/retry`, { reason: REASON });
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
