import { type Role, roleAtLeast } from '../../access/principal.js';
import { InvalidTokenError } from '../../auth/tokens/tokens.errors.js';
import { INVITED_ROLES, type InvitedRole } from './org.entity.js';
import type { AnsweringFacts, InvitingFacts, RenewingFacts } from './invitations.repository.js';
import { statusAt } from './invitations.lists.js';
import { AlreadyInvitedError } from './orgs.errors.js';
import { requireAdmin } from './member-policy.js';
import { Problem } from '../../problems/problem.js';

export function invitableRoles(role: Role | null): readonly InvitedRole[] {
  return role !== null && roleAtLeast(role, 'admin') ? INVITED_ROLES : [];
}

export function requireInviting(facts: InvitingFacts, now: number): void {
  requireActor(facts);
  if (facts.targetRole !== null) throw new Problem('already_member');
  if (facts.pendingUntil !== null && facts.pendingUntil > now) throw new AlreadyInvitedError(facts.pendingId);
}

/** Allows a pending or expired invitation, unless another is pending for the same email. */
export function requireRenewing(facts: RenewingFacts, now: number): void {
  requireActor(facts);
  requireOpen(facts);
  if (facts.targetRole !== null) throw new Problem('already_member');
  const other = facts.pendingId === facts.id ? null : facts.pendingUntil;
  if (other !== null && other > now) throw new AlreadyInvitedError(facts.pendingId);
}

export function requireRevoking(facts: RenewingFacts): void {
  requireActor(facts);
  requireOpen(facts);
}

export function requireAnswer(facts: AnsweringFacts, hasCode: boolean, now: number): void {
  if (facts.userEmail !== facts.email) throw new Problem('invitation_not_found');
  if (facts.userVerifiedAt === null && !hasCode) throw new Problem('email_not_verified');
  if (!isOpen(facts, now)) throw new Problem('invitation_ended');
}

export function requireAcceptance(facts: AnsweringFacts, hasCode: boolean, now: number): void {
  const isMember = facts.userRole !== null && facts.userEmail === facts.email;
  if (isMember && (facts.userVerifiedAt !== null || hasCode)) throw new Problem('already_member');
  requireAnswer(facts, hasCode, now);
}

export function isOpen(facts: AnsweringFacts, now: number): boolean {
  return (
    statusAt(facts, now) === 'pending' &&
    facts.orgDeletedAt === null &&
    facts.inviterDisabledAt === null &&
    invitableRoles(facts.inviterRole).includes(facts.role)
  );
}

function requireActor({ actorRole, actorEmail, actorDisabledAt }: InvitingFacts): void {
  if (actorEmail === null || actorDisabledAt !== null) throw new InvalidTokenError('user_gone');
  requireAdmin(actorRole);
}

function requireOpen({ status }: RenewingFacts): void {
  if (status !== 'pending' && status !== 'expired') throw new Problem('invitation_ended');
}
