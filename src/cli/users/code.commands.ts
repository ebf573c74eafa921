import { EmailCodes } from '../../auth/email-codes/email-codes.js';
import { readable } from '../../auth/email-codes/email-code-text.js';
import { EmailCodesRepository } from '../../auth/email-codes/email-codes.repository.js';
import { HandedOutResetCodes } from '../../accounts/reset-codes.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing } from '../../auth/tokens/signing-keys.js';
import { timeText } from '../../operators/views.js';
import { InvitationLists, type ReceivedInvitation } from '../../orgs/state/invitations.lists.js';
import { ShownInvitationsService } from '../../orgs/invitations/shown-invitations.service.js';
import { canonicalEmail } from '../../users/email-address.js';
import type { Invocation, Report } from '../command/definition.js';
import { findOrg, findUser } from '../command/lookups.js';
import { CannotRunError, operatorOf, textOption } from '../command/options.js';
import { type Services, withServices } from '../command/services.js';

const MAX_NAMED = 3;

/** The code does not verify the email, because the operator may tell it to another person. */
export function resetCode(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const { id, email } = await findUser(services, invocation.parameters[0]!);
    const codes = emailCodes(services);
    const issued = await services.get(HandedOutResetCodes).issue(codes, id, actor);
    const code = readable(codes.textOf(issued));
    const expiresAt = timeText(issued.expiresAt);
    return {
      lines: [`${email} (${id}): a code for a new password, until ${expiresAt}`, `code: ${code}`],
      json: [{ id, email, code, expiresAt }],
    };
  });
}

/** Like a code that an admin gets with `showCode`, this one does not verify the email. */
export async function inviteCode(invocation: Invocation): Promise<Report> {
  const email = canonicalEmail(invocation.parameters[0]);
  if (email === undefined) throw new CannotRunError('expected the email that was invited');
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const invitation = await findInvitation(services, email, textOption(invocation, 'org'));
    const codes = emailCodes(services);
    const { id, orgId, orgName, role } = invitation;
    const { codeNumber, expiresAt } = await services.get(ShownInvitationsService).renew(invitation, actor);
    const code = readable(codes.textOf({ id, purpose: 'invitation', codeNumber }));
    const until = timeText(expiresAt);
    return {
      lines: [`${email}: a code to join ${orgName} (${orgId}) as ${role}, until ${until}`, `code: ${code}`],
      json: [{ id, email, role, org: { id: orgId, name: orgName }, code, expiresAt: until }],
    };
  });
}

/** @throws CannotRunError if no invitation is pending, or several are */
async function findInvitation(
  services: Services,
  email: string,
  orgText: string | undefined,
): Promise<ReceivedInvitation> {
  const orgId = orgText === undefined ? undefined : (await findOrg(services, orgText)).id;
  const pending = await services.get(InvitationLists).findPending(email, Date.now());
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

function emailCodes(services: Services): EmailCodes {
  const keys = new KeyRing(loadKeyFile(services.env.jwtKeysFile, true));
  return new EmailCodes(services.get(EmailCodesRepository), keys);
}
