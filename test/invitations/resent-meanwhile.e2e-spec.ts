import { afterAll, beforeAll, expect, it } from 'vitest';
import { InvalidEmailCodeError, EmailCodes } from '../../src/auth/email-codes/email-codes.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { Event } from '../../src/events/event.entity.js';
import { InvitationAnswers, TypedCodes } from '../../src/orgs/invitations/invitation-answers.service.js';
import { EmailCode } from '../../src/auth/email-codes/email-code.entity.js';
import { EmailCodesRepository } from '../../src/auth/email-codes/email-codes.repository.js';
import { KeyRing } from '../../src/auth/tokens/signing-keys.js';
import { loadKeyFile } from '../../src/auth/tokens/key-file.js';
import { Invitation, Member } from '../../src/orgs/state/org.entity.js';
import { InvitationLists } from '../../src/orgs/state/invitations.lists.js';
import { InvitationsRepository } from '../../src/orgs/state/invitations.repository.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import { UserChangesRepository } from '../../src/users/user-changes.repository.js';
import { UserEmailsRepository } from '../../src/users/user-emails.repository.js';
import { User } from '../../src/users/user.entity.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';
import { orgChanges } from '../support/org-changes.js';
import { anUnknownId } from '../support/personas.js';

const EMAIL = 'guest@example.com';
let data: DataLayer;

beforeAll(async () => {
  data = await openDataLayer();
});
afterAll(() => data.close());

function registrations(): { invited: InvitationAnswers; codes: EmailCodes } {
  const { dataSource, env, transactions } = data;
  const invitations = new InvitationsRepository(dataSource.getRepository(Invitation), transactions);
  const events = new EventsRepository(dataSource.getRepository(Event));
  const keys = new KeyRing(loadKeyFile(env.jwtKeysFile, true));
  const codes = new EmailCodes(new EmailCodesRepository(dataSource.getRepository(EmailCode)), keys);
  const list = new InvitationLists(dataSource.getRepository(Invitation));
  const invited = new InvitationAnswers(
    orgChanges(data),
    invitations,
    new MembersRepository(dataSource.getRepository(Member)),
    new TypedCodes(invitations, list, codes, transactions),
    new UserChangesRepository(),
    new UserEmailsRepository(dataSource.getRepository(User)),
    events,
    env,
  );
  return { invited, codes };
}

it('a code that was typed is void if the invitation is resent before the organization is locked', async () => {
  const [inviter, orgId, id] = [anUnknownId(), anUnknownId(), anUnknownId()];
  const insert = (table: string, row: Record<string, string | number>): Promise<unknown> =>
    data.db.query(
      `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join()})`,
      Object.values(row),
    );
  const email = 'owner@example.com';
  await insert('users', { id: inviter, email, password_hash: 'none', created_at: 1 });
  await insert('orgs', { id: orgId, name: 'Analytical Engines', revision: 1, created_at: 1 });
  await insert('members', { org_id: orgId, user_id: inviter, email, role: 'owner', joined_at: 1 });
  await insert('invitations', {
    id,
    org_id: orgId,
    email: EMAIL,
    role: 'member',
    status: 'pending',
    pending: 1,
    code_number: 1,
    code_shown: 0,
    invited_by: inviter,
    created_at: 1,
    expires_at: Date.now() + 1e6,
  });
  const { invited, codes } = registrations();
  const typed = codes.textOf({ id, purpose: 'invitation', codeNumber: 1 });
  const found = await invited.findForRegistration(EMAIL, typed, '192.0.2.1');
  const begin = (): Promise<object> =>
    invited.register(found, '192.0.2.1', async () => Promise.reject(new Error('began')));

  await expect(begin()).rejects.toThrow('began');
  await data.db.query('UPDATE invitations SET code_number = 2, code_shown = 1 WHERE id = ?', [id]);

  await expect(begin()).rejects.toBeInstanceOf(InvalidEmailCodeError);
});
