import type { OperatorActor } from '../../access/principal.js';
import { VouchedEmails } from '../../accounts/vouched-emails.js';
import { type Removal, SecondFactorRemoval } from '../../accounts/second-factor-removal.js';
import { SessionRevocation } from '../../auth/sessions/session-revocation.js';
import { OrgsRepository } from '../../orgs/state/orgs.repository.js';
import { canonicalEmail } from '../../users/email-address.js';
import { UserDeletionService } from '../../accounts/user-deletion.js';
import { UserDisablingService } from '../../accounts/user-disabling.js';
import type { OrphanedOrg } from '../../users/user-ties.js';
import type { UserProfile } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command/definition.js';
import { findUser } from '../command/lookups.js';
import { CannotRunError, operatorOf } from '../command/options.js';
import { type Services, withServices } from '../command/services.js';

interface UserChange<Actor, Changed> {
  make: (services: Services, user: UserProfile, actor: Actor) => Promise<Changed>;
  done: string;
  unchanged: string;
}

/** `make` returns false if there was nothing to change. */
export function changeUser(
  invocation: Invocation,
  { make, done, unchanged }: UserChange<OperatorActor, boolean>,
): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const user = await findUser(services, invocation.parameters[0]!);
    const changed = await make(services, user, actor);
    const { id, email } = user;
    return { lines: [`${email} (${id}): ${changed ? done : unchanged}`], json: [{ id, email, changed }] };
  });
}

// Names all organizations that a forced change leaves without an enabled owner. `make` returns undefined if there was
// nothing to change.
async function changeOwner(
  invocation: Invocation,
  { make, ...texts }: UserChange<{ actor: OperatorActor; force: boolean }, OrphanedOrg[] | undefined>,
): Promise<Report> {
  const force = invocation.options['force'] === true;
  let orphaned: (OrphanedOrg & { name: string })[] = [];
  const { lines, json } = await changeUser(invocation, {
    ...texts,
    make: async (services, user, actor) => {
      const left = await make(services, user, { actor, force });
      orphaned = await services.get(OrgsRepository).withNames(left ?? []);
      return left !== undefined;
    },
  });
  const [result] = json;
  return {
    lines: [...lines, ...orphaned.map(orphanedLine)],
    json: [{ ...result, ...(force && { orphanedOrgs: orphaned }) }],
  };
}

function orphanedLine({ id, name, isDeleted }: OrphanedOrg & { name: string }): string {
  const what = isDeleted
    ? 'is deleted: it had no other member'
    : `has no enabled owner now: accounts orgs set-owner ${id} <USER>`;
  return `organization ${id} (${name}) ${what}`;
}

export function disableUser(invocation: Invocation): Promise<Report> {
  return changeOwner(invocation, {
    make: (services, { id }, how) => services.get(UserDisablingService).disable(id, how),
    done: 'disabled, every session has ended',
    unchanged: 'is already disabled',
  });
}

export function deleteUser(invocation: Invocation): Promise<Report> {
  return changeOwner(invocation, {
    make: (services, { id }, how) => services.get(UserDeletionService).delete(id, how),
    done: 'deleted, with every membership and session',
    unchanged: 'is gone',
  });
}

export function enableUser(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(UserDisablingService).enable(id, actor),
    done: 'enabled, can log in',
    unchanged: 'is not disabled',
  });
}

export function endSessions(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(SessionRevocation).revokeAllOf(id, actor),
    done: 'every session has ended',
    unchanged: 'is gone',
  });
}

export function removeSecondFactor(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const user = await findUser(services, invocation.parameters[0]!);
    const removal = await services.get(SecondFactorRemoval).byOperator(user, actor);
    const { id, email } = user;
    const changed = removal.kind === 'removed';
    const operatorRevoked = changed && removal.wasOperator;
    return {
      lines: [`${email} (${id}): ${removalText(removal)}`],
      json: [{ id, email, changed, operatorRevoked }],
    };
  });
}

function removalText(removal: Removal): string {
  if (removal.kind === 'unchanged') return 'has no second factor';
  const removed = 'the second factor is removed, and every session has ended';
  return removal.wasOperator ? `${removed}; the user is no longer an operator` : removed;
}

export async function setEmail(invocation: Invocation): Promise<Report> {
  const email = canonicalEmail(invocation.parameters[1]);
  if (email === undefined) throw new CannotRunError('expected the new email as the second parameter');
  const isVerified = invocation.options['verified'] === true;
  return changeUser(invocation, {
    make: (services, user, actor) => services.get(VouchedEmails).replace(user, { email, isVerified, actor }),
    done: `the e-mail is ${email} now, ${isVerified ? 'verified' : 'not verified'}`,
    unchanged: 'already has this e-mail',
  });
}

export function verifyEmail(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(VouchedEmails).verify(id, actor),
    done: 'the e-mail is verified',
    unchanged: 'the e-mail was verified before',
  });
}
