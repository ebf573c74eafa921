import { type Role, roleAtLeast } from '../access/role.js';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { INVITED_ROLES, type InvitedRole } from './invitation.entity.js';
import type { AnsweringFacts, InvitingFacts, RenewingFacts } from './invitation-facts.repository.js';
import { statusAt } from './invitation-list.repository.js';
import {
  AlreadyInvitedError,
  EmailNotVerifiedError,
  InvitationEndedError,
  InvitationNotFoundError,
} from './invitations.errors.js';
import { requireAdmin } from './membership-policy.js';
import { AlreadyMemberError } from './memberships.errors.js';

/** Whom somebody with that role may invite; null: not a member. */
export function invitableRoles(role: Role | null): readonly InvitedRole[] {
  return role !== null && roleAtLeast(role, 'admin') ? INVITED_ROLES : [];
}

/** @throws AlreadyMemberError, AlreadyInvitedError, and errors about the actor */
export function requireInviting(facts: InvitingFacts, now: number): void {
  requireActor(facts);
  if (facts.targetRole !== null) throw new AlreadyMemberError();
  if (facts.pendingUntil !== null && facts.pendingUntil > now) throw new AlreadyInvitedError(facts.pendingId);
}

/** A pending or expired one; of another that is pending for the same e-mail, that one counts. */
export function requireRenewing(facts: RenewingFacts, now: number): void {
  requireActor(facts);
  requireOpen(facts);
  if (facts.targetRole !== null) throw new AlreadyMemberError();
  const other = facts.pendingId === facts.id ? null : facts.pendingUntil;
  if (other !== null && other > now) throw new AlreadyInvitedError(facts.pendingId);
}

/** A pending or expired one. */
export function requireRevoking(facts: RenewingFacts): void {
  requireActor(facts);
  requireOpen(facts);
}

/**
 * @param hasCode whether the code of the invitation was typed
 * @throws InvitationNotFoundError, EmailNotVerifiedError, InvitationEndedError
 */
export function requireAnswer(facts: AnsweringFacts, hasCode: boolean, now: number): void {
  if (facts.userEmail !== facts.email) throw new InvitationNotFoundError();
  if (facts.userVerifiedAt === null && !hasCode) throw new EmailNotVerifiedError();
  if (!isOpen(facts, now)) throw new InvitationEndedError();
}

/** As for any answer; a member stays what he is. */
export function requireAcceptance(facts: AnsweringFacts, hasCode: boolean, now: number): void {
  const isMember = facts.userRole !== null && facts.userEmail === facts.email;
  if (isMember && (facts.userVerifiedAt !== null || hasCode)) throw new AlreadyMemberError();
  requireAnswer(facts, hasCode, now);
}

/** Whether it is pending, and its inviter may still invite to that role. */
export function isOpen(facts: AnsweringFacts, now: number): boolean {
  return (
    statusAt(facts, now) === 'pending' &&
    facts.orgDeletedAt === null &&
    facts.inviterDisabledAt === null &&
    invitableRoles(facts.inviterRole).includes(facts.role)
  );
}

/** The guard's check may be stale. */
function requireActor({ actorRole, actorEmail, actorDisabledAt }: InvitingFacts): void {
  if (actorEmail === null || actorDisabledAt !== null) throw new InvalidTokenError('user_gone');
  requireAdmin(actorRole);
}

function requireOpen({ status }: RenewingFacts): void {
  if (status !== 'pending' && status !== 'expired') throw new InvitationEndedError();
}
