import { EmailChanges } from '../../accounts/email-changes.js';
import { SecondFactorRemoval } from '../../accounts/second-factor-removal.js';
import { UserDeletion } from '../../accounts/user-deletion.js';
import { UserOperations } from '../../accounts/user-operations.js';
import { SessionRevocation } from '../../auth/sessions/session-revocation.js';
import type { ChangeOutcome } from '../../database/transactions/transactions.js';
import { OrgsRepository } from '../../orgs/state/orgs.repository.js';
import type { OrphanedOrg } from '../../orgs/state/user-memberships.js';
import { normalizedEmail } from '../../users/email-address.js';
import { type Context, onUser, withContext } from '../command/context.js';
import {
  CannotRunError,
  type Change,
  type Invocation,
  type Outcome,
  outcomeOf,
  type Report,
} from '../command/definition.js';

export const disableUser = onUser(async (context, { id }, change) => {
  const left = await context.get(UserOperations).disable(id, change);
  const outcome = outcomeOf(left, 'disabled, every session has ended', 'is already disabled');
  return withOrphans(context, change, left, outcome);
});

export const enableUser = onUser(async (context, { id }, { actor }) =>
  outcomeOf(await context.get(UserOperations).enable(id, actor), 'enabled, can log in', 'is not disabled'),
);

export const unblockUser = onUser(async (context, { id }, { actor }) =>
  outcomeOf(
    await context.get(UserOperations).unblock(id, actor),
    'unblocked, can log in within 5 seconds',
    'was deleted',
  ),
);

export const deleteUser = onUser(async (context, { id }, change) => {
  const left = await context.get(UserDeletion).delete(id, change);
  const outcome = outcomeOf(left, 'deleted, with every membership and session', 'was already deleted');
  return withOrphans(context, change, left, outcome);
});

export const endSessions = onUser(async (context, { id }, { actor }) =>
  outcomeOf(
    await context.get(SessionRevocation).revokeAllOf(id, actor),
    'every session has ended',
    'was already deleted',
  ),
);

export const verifyEmail = onUser(async (context, { id }, { actor }) =>
  outcomeOf(
    await context.get(EmailChanges).verifyByOperator(id, actor),
    'the email is verified',
    'the email was already verified',
  ),
);

export const grantOperator = onUser(async (context, { id }, change) =>
  outcomeOf(
    await context.get(UserOperations).grantOperator(id, change),
    'now an operator',
    'is already an operator',
  ),
);

export const revokeOperator = onUser(async (context, { id }, { actor }) =>
  outcomeOf(
    await context.get(UserOperations).revokeOperator(id, actor),
    'no longer an operator',
    'is not an operator',
  ),
);

export const removeSecondFactor = onUser(async (context, { id }, { actor }) => {
  const removed = await context.get(SecondFactorRemoval).byOperator(id, actor);
  const changed = removed.kind === 'done';
  const operatorRevoked = changed && removed.answer.wasOperator;
  const end = operatorRevoked ? '; the user is no longer an operator' : '';
  const text = changed
    ? `two-factor authentication is off, and every session has ended${end}`
    : 'does not use two-factor authentication';
  return { text, json: { changed, operatorRevoked } };
});

export async function setEmail(invocation: Invocation): Promise<Report> {
  const email = normalizedEmail(invocation.parameters[1]);
  if (email === undefined) throw new CannotRunError('expected the new email as the second parameter');
  const isVerified = invocation.flag('verified');
  const done = `the email is now ${email}, ${isVerified ? 'verified' : 'not verified'}`;
  return onUser(async (context, user, { actor }) => {
    const replaced = await context.get(EmailChanges).replaceByOperator(user, { email, isVerified, actor });
    return outcomeOf(replaced, done, 'already has this email');
  })(invocation);
}

export function endAllSessions(invocation: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const users = await context.get(SessionRevocation).revokeAllOfEveryUser(invocation.operator());
    return { lines: [`every session of ${users} users has ended`], json: [{ users }] };
  });
}

async function withOrphans(
  context: Context,
  { force }: Change,
  left: ChangeOutcome<OrphanedOrg[]>,
  { text, json }: Outcome,
): Promise<Outcome> {
  const orphanedOrgs = await orphansOf(context, left);
  return { text, lines: orphanedOrgs.map(orphanedLine), json: { ...json, ...(force && { orphanedOrgs }) } };
}

export type NamedOrphan = OrphanedOrg & { name: string };

export function orphansOf(context: Context, left: ChangeOutcome<OrphanedOrg[]>): Promise<NamedOrphan[]> {
  return context.get(OrgsRepository).withNames(left.kind === 'done' ? left.answer : []);
}

export function orphanedLine({ id, name, isDeleted }: NamedOrphan): string {
  const what = isDeleted
    ? 'is deleted: it had no other member'
    : `no longer has an enabled owner: accounts orgs add-owner ${id} <USER>`;
  return `organization ${id} (${name}) ${what}`;
}
