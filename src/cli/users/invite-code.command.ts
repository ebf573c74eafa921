import { MailCodes } from '../../auth/mail-codes/mail-codes.js';
import { readable } from '../../auth/mail-codes/mail-code-text.js';
import { MailCodesRepository } from '../../auth/mail-codes/mail-codes.repository.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing } from '../../auth/tokens/key-ring.js';
import { ShownInvitationsService } from '../../orgs/invitations/shown-invitations.service.js';
import {
  InvitationListRepository,
  type ReceivedInvitation,
} from '../../orgs/invitations/invitation-list.repository.js';
import { canonicalEmail } from '../../users/email-address.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { findOrg } from '../orgs/find-org.js';
import { type Services, withServices } from '../services.js';
import { timeText } from '../times.js';

const MAX_NAMED = 3;

/** Like a code that an admin gets with `showCode`, this one does not verify the e-mail. */
export async function inviteCode(invocation: Invocation): Promise<Report> {
  const { parameters, options } = invocation;
  const email = canonicalEmail(parameters[0]);
  if (email === undefined) throw new CannotRunError('expected the e-mail that was invited');
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const org = typeof options['org'] === 'string' ? options['org'] : undefined;
    const invitation = await findInvitation(services, email, org);
    const codes = new MailCodes(
      services.get(MailCodesRepository),
      new KeyRing(loadKeyFile(services.env.jwtKeysFile, true)),
    );
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
  const pending = await services.get(InvitationListRepository).findPending(email, Date.now());
  const [invitation, ...others] = pending.filter((one) => orgId === undefined || one.orgId === orgId);
  if (!invitation) throw new CannotRunError(`no invitation is pending for ${email}`);
  if (others.length > 0) {
    const named = pending.slice(0, MAX_NAMED).map((one) => one.orgId);
    throw new CannotRunError(
      `${pending.length} organizations have invited this e-mail: add --org, such as ${named.join(', ')}`,
    );
  }
  return invitation;
}
