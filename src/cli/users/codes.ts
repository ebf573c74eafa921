import { PasswordSetting } from '../../accounts/password-reset.js';
import { EmailCodes } from '../../auth/email-codes/email-codes.js';
import { EmailCodesRepository } from '../../auth/email-codes/email-codes.repository.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing } from '../../auth/tokens/signing-keys.js';
import { Env } from '../../config/env.js';
import { timeText } from '../../identifiers/text.js';
import { OperatedInvitations } from '../../orgs/invitations/invitations.service.js';
import { InvitationListsRepository, type ReceivedInvitation } from '../../orgs/state/invitations.lists.js';
import { normalizedEmail } from '../../users/email-address.js';
import { type Context, findOrg, onUser, withContext } from '../command/context.js';
import { CannotRunError, type Invocation, type Report } from '../command/definition.js';

const MAX_NAMED = 3;

/** The code does not verify the email, because the operator may give it to another person. */
export const resetCode = onUser(async (context, { id }, { actor }) => {
  const codes = emailCodesOf(context);
  const issued = await context.get(PasswordSetting).issueCode(id, actor);
  const code = codes.textOf(issued);
  const expiresAt = timeText(issued.expiresAt);
  const text = `a reset code, valid until ${expiresAt}`;
  return { text, lines: [`code: ${code}`], json: { code, expiresAt } };
});

export async function inviteCode(invocation: Invocation): Promise<Report> {
  const email = normalizedEmail(invocation.parameters[0]);
  if (email === undefined) throw new CannotRunError('expected the email that was invited');
  return withContext(async (context) => {
    const actor = invocation.operator();
    const invitation = await findInvitation(context, email, invocation.text('org'));
    const codes = emailCodesOf(context);
    const { id, orgId, orgName, role } = invitation;
    const { codeNumber, expiresAt } = await context.get(OperatedInvitations).renew(invitation, actor);
    const code = codes.textOf({ id, purpose: 'invitation', codeNumber });
    const until = timeText(expiresAt);
    return {
      lines: [
        `${email}: a code to join ${orgName} (${orgId}) as ${role}, valid until ${until}`,
        `code: ${code}`,
      ],
      json: [{ id, email, role, org: { id: orgId, name: orgName }, code, expiresAt: until }],
    };
  });
}

async function findInvitation(
  context: Context,
  email: string,
  orgText: string | undefined,
): Promise<ReceivedInvitation> {
  const orgId = orgText === undefined ? undefined : (await findOrg(context, orgText)).id;
  const pending = await context.get(InvitationListsRepository).findPending(email, Date.now());
  const [invitation, ...others] = pending.filter((one) => orgId === undefined || one.orgId === orgId);
  if (!invitation) throw new CannotRunError(`no invitation is pending for ${email}`);
  if (others.length > 0) {
    const named = pending.slice(0, MAX_NAMED).map((one) => one.orgId);
    throw new CannotRunError(
      `${pending.length} organizations have invited this email: add --org, such as ${named.join(', ')}`,
    );
  }
  return invitation;
}

export function emailCodesOf(context: Context): EmailCodes {
  const keys = new KeyRing(loadKeyFile(context.get(Env).jwtKeysFile, true));
  return new EmailCodes(context.get(EmailCodesRepository), keys);
}
