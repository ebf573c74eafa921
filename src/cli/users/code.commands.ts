import { timeText } from '../../identifiers/text.js';
import type { ReceivedInvitation } from '../../orgs/state/invitations.lists.js';
import { canonicalEmail } from '../../users/email-address.js';
import type { UserView } from '../../users/user-view.js';
import type { Services } from '../command/cli.module.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type Invocation,
  type Outcome,
  type Report,
} from '../command/definition.js';
import { findOrg, onUser, withServices } from '../command/services.js';
import { USER } from './change.commands.js';

const MAX_NAMED = 3;

export const CODE_COMMANDS: CommandDefinition[] = [
  {
    usage: 'reset-code <USER>',
    summary: 'print a reset code once, with which a user can set a new password',
    details: `${USER} Give them the code. It is valid for 15 minutes, or until their email changes or all their sessions end.`,
    changes: true,
    examples: ['users reset-code ada@example.com --reason "receives no email, called back"'],
    run: onUser(resetCode),
  },
  {
    usage: 'invite-code <EMAIL>',
    summary: 'print a new invitation code once, with which the invited person can join',
    details: [
      'Use it if the email of a pending invitation does not arrive, and give the code to the person. It is valid for 7',
      'days, replaces the code in the email, and does not verify the email address.',
    ].join('\n'),
    options: [['--org <ORG>', 'the organization, by id or name, if several have invited this email']],
    changes: true,
    examples: ['users invite-code joan@example.com --org "Analytical Engines" --reason "no mail server"'],
    run: inviteCode,
  },
];

/** The code does not verify the email, because the operator may give it to another person. */
async function resetCode(services: Services, { id }: UserView, { actor }: Change): Promise<Outcome> {
  const codes = services.emailCodes();
  const issued = await services.passwords.issueCode(id, actor);
  const code = codes.textOf(issued);
  const expiresAt = timeText(issued.expiresAt);
  const text = `a reset code, valid until ${expiresAt}`;
  return { text, lines: [`code: ${code}`], json: { code, expiresAt } };
}

async function inviteCode(invocation: Invocation): Promise<Report> {
  const email = canonicalEmail(invocation.parameters[0]);
  if (email === undefined) throw new CannotRunError('expected the email that was invited');
  return withServices(async (services) => {
    const actor = invocation.operator();
    const invitation = await findInvitation(services, email, invocation.text('org'));
    const codes = services.emailCodes();
    const { id, orgId, orgName, role } = invitation;
    const { codeNumber, expiresAt } = await services.shownInvitations.renew(invitation, actor);
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
  services: Services,
  email: string,
  orgText: string | undefined,
): Promise<ReceivedInvitation> {
  const orgId = orgText === undefined ? undefined : (await findOrg(services, orgText)).id;
  const pending = await services.invitations.findPending(email, Date.now());
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
