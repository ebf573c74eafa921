import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { invalidCode } from '../support/expected.js';
import { anInstallation } from '../support/installation.js';
import { anInvitation } from '../support/inviting.js';
import { anAccount, anEmail, anOrgOf, aPassword, type Org } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { startOwnService } from '../support/service.js';

const BY_ROOT = ['--as', 'root', '--reason', 'no mail server'];

interface Handed {
  id: string;
  email: string;
  role: string;
  org: Org;
  code: string;
  expiresAt: string;
}

const installation = await anInstallation();
const service = await startOwnService({
  installation,
  env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_CODE: 'off' },
});
const owner = await anAccount(service, 'owner');
const org = await anOrgOf(owner);
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

describe('accounts users invite-code', () => {
  const inviteCode = (email: string, ...more: string[]) => [
    'users',
    'invite-code',
    email,
    ...BY_ROOT,
    ...more,
  ];
  const register = (email: string, invitationCode: string) =>
    service.anyone.post<{ user: { id: string } }>('/api/auth/register', {
      email,
      password: aPassword(),
      invitationCode,
    });

  it('prints a code once that joins, takes the place of the one before, and verifies no e-mail', async () => {
    const email = anEmail('joan');
    const invitation = await anInvitation(owner, org, { email, role: 'admin' });
    // As if it had been mailed.
    await service.db.query('UPDATE invitations SET code_shown = 0 WHERE id = ?', [invitation.id]);
    const known = await knownEvents(service.db);

    const [handed] = await accountsJson<Handed>(installation, inviteCode(email));

    expect(handed).toEqual({
      id: invitation.id,
      email,
      role: 'admin',
      org: { id: org.id, name: org.name },
      code: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/) as unknown,
      expiresAt: expect.stringMatching(/Z$/) as unknown,
    });
    const recorded = await eventsSince(service.db, known);
    expect(recorded).toEqual([
      {
        type: 'invitation.resent',
        actor_type: 'operator',
        actor_id: 'root',
        org_id: org.id,
        user_id: null,
        data: { invitationId: invitation.id, role: 'admin' },
        reason: 'no mail server',
      },
    ]);
    expect(JSON.stringify(recorded)).not.toContain(handed!.code);

    expect(await register(email, invitation.code)).toMatchObject(invalidCode);
    const { status, body, text } = await register(email, handed!.code);
    expect(status, text).toBe(201);
    const [row] = await service.db.query(
      `SELECT m.role, u.email_verified_at AS verified_at FROM users u JOIN members m ON m.user_id = u.id
        WHERE u.id = ?`,
      [body.user.id],
    );
    expect(row).toEqual({ role: 'admin', verified_at: null });
  });

  it('asks which organization is meant where several invite', async () => {
    const email = anEmail('wanted');
    const other = await anOrgOf(owner, 'Difference Engines');
    await anInvitation(owner, org, { email });
    await anInvitation(owner, other, { email });

    const { code, stdout, stderr } = await accounts(installation, inviteCode(email));

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: 2 organizations have invited this email: add --org, such as [^\n]+\n$/);
    const [handed] = await accountsJson<Handed>(
      installation,
      inviteCode(email, '--org', 'Difference Engines'),
    );
    expect(handed!.org.id).toBe(other.id);
  });

  it('needs a pending invitation of somebody who may invite, and a reason', async () => {
    const email = anEmail('late');
    const { id } = await anInvitation(owner, org, { email });
    const known = await knownEvents(service.db);

    expect(await accounts(installation, ['users', 'invite-code', email])).toMatchObject({
      code: 2,
      stderr: "error: required option '--reason <TEXT>' not specified\n",
    });
    await service.db.query('UPDATE invitations SET invited_by = ? WHERE id = ?', [
      owner.id.replace(/.$/, 'x'),
      id,
    ]);
    expect(await accounts(installation, inviteCode(email))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^refused: [^\n]+\(invitation_ended\)\n$/) as unknown,
    });
    await service.db.query('UPDATE invitations SET expires_at = 1 WHERE id = ?', [id]);
    expect(await accounts(installation, inviteCode(email))).toMatchObject({
      code: 2,
      stderr: `error: no invitation is pending for ${email}\n`,
    });
    expect(await eventsSince(service.db, known)).toEqual([]);
  });
});
