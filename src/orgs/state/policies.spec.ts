import { describe, expect, it } from 'vitest';
import { ROLES } from '../../access/principal.js';
import { Problem } from '../../problems/problem.js';
import type { AnsweringFacts, RenewingFacts } from './invitations.repository.js';
import type { LockedMembership, MemberPair } from './members.repository.js';
import { INVITATION_STATUSES } from './org.entity.js';
import {
  additionsUpTo,
  requireAcceptance,
  requireAnswer,
  requireChange,
  requireInviting,
  requireLeaving,
  requireRemoval,
  requireRenewing,
  requireRevoking,
} from './policies.js';
import { requireOtherOwners } from './user-memberships.js';

const [DIRECT, DELEGATED] = [{ isDelegated: false }, { isDelegated: true }];

const FACTS: MemberPair = {
  actorRole: 'owner',
  targetRole: 'member',
  hasOtherOwner: 1,
  hasOtherMember: 1,
  isTargetDisabled: 0,
  lacksTargetFactor: 0,
};

function codeOf(rule: () => unknown): string {
  try {
    rule();
    return 'allowed';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

describe('a session that a code opened', () => {
  const needsDirectSession = (rule: () => unknown): boolean => codeOf(rule) === 'direct_session_required';

  it.each(ROLES)('changes or removes a %s, and leaves as one, unless one of them is owner', (targetRole) => {
    const facts: MemberPair = { ...FACTS, targetRole };
    for (const to of ROLES) {
      const isOfOwner = targetRole === 'owner' || to === 'owner';
      expect(needsDirectSession(() => requireChange(facts, to, DELEGATED))).toBe(isOfOwner);
      expect(codeOf(() => requireChange(facts, to, DIRECT))).toBe('allowed');
    }
    expect(needsDirectSession(() => requireRemoval(facts, DELEGATED))).toBe(targetRole === 'owner');
    expect(needsDirectSession(() => requireLeaving(facts, DELEGATED))).toBe(targetRole === 'owner');
  });
});

describe('an enabled owner', () => {
  const LAST: MemberPair = { ...FACTS, targetRole: 'owner', hasOtherOwner: 0 };

  it.each<[string, (facts: MemberPair) => unknown]>([
    ['becomes admin', (facts) => requireChange(facts, 'admin', DIRECT)],
    ['becomes member', (facts) => requireChange(facts, 'member', DIRECT)],
    ['is removed', (facts) => requireRemoval(facts, DIRECT)],
    ['leaves', (facts) => requireLeaving(facts, DIRECT)],
  ])('stays when the last one %s', (_what, rule) => {
    expect(codeOf(() => rule(LAST))).toBe('last_owner');
    expect(codeOf(() => rule({ ...LAST, hasOtherOwner: 1 }))).toBe('allowed');
    expect(codeOf(() => rule({ ...LAST, targetRole: 'admin' }))).toBe('allowed');
  });

  it('is asked for in every organization that is not deleted, unless an operator forces it', () => {
    const kept = { orgId: '1', role: 'owner', hasOtherOwner: 1, isDeleted: 0 } as LockedMembership;
    const orphaned: LockedMembership = { ...kept, orgId: '2', hasOtherOwner: 0 };
    const others: LockedMembership[] = [kept, { ...orphaned, role: 'member' }, { ...orphaned, isDeleted: 1 }];

    expect(() => requireOtherOwners([...others, orphaned], false)).toThrow('the only enabled owner of 2');
    expect(requireOtherOwners([...others, orphaned], true)).toEqual([orphaned]);
    expect(requireOtherOwners(others, false)).toEqual([]);
  });
});

it('lets others add a user up to four fifths of a limit, and leaves the user one of any limit above one', () => {
  expect([1, 2, 3, 4, 5, 9, 10, 5000].map(additionsUpTo)).toEqual([1, 1, 2, 3, 4, 7, 8, 4000]);
});

const NOW = 1_800_000_000_000;
const EMAIL = 'grace@example.com';
const ROW = { id: 'i', email: EMAIL, role: 'member', status: 'pending', expiresAt: NOW + 1 } as const;

const RENEWING = {
  ...ROW,
  actorRole: 'admin',
  actorEmail: 'ada@example.com',
  actorDisabledAt: null,
  targetRole: null,
  pendingId: 'i',
  pendingUntil: NOW + 1,
} as RenewingFacts;

const ANSWERING = {
  ...ROW,
  orgDeletedAt: null,
  inviterRole: 'admin',
  inviterDisabledAt: null,
  isInviterSuspended: 0,
  userEmail: EMAIL,
  userVerifiedAt: 1,
  userRole: null,
} as AnsweringFacts;

it.each<[name: string, facts: Partial<RenewingFacts>, inviting: string, resending: string]>([
  ['an admin', {}, 'already_invited', 'allowed'],
  ['an owner', { actorRole: 'owner' }, 'already_invited', 'allowed'],
  ['a member', { actorRole: 'member' }, 'insufficient_role', 'insufficient_role'],
  ['somebody removed meanwhile', { actorRole: null }, 'not_a_member', 'not_a_member'],
  ['somebody disabled meanwhile', { actorDisabledAt: 1 }, 'invalid_token', 'invalid_token'],
  ['somebody deleted meanwhile', { actorEmail: null, actorRole: null }, 'invalid_token', 'invalid_token'],
  ['an admin, of a member', { targetRole: 'owner' }, 'already_member', 'already_member'],
  ['an admin, the first time', { pendingId: null, pendingUntil: null }, 'allowed', 'allowed'],
  ['an admin, once the last has expired', { pendingUntil: NOW }, 'allowed', 'allowed'],
  ['an admin, beside a pending one', { pendingId: 'x' }, 'already_invited', 'already_invited'],
  ['an admin, beside an expired one', { pendingId: 'x', pendingUntil: NOW }, 'allowed', 'allowed'],
])('inviting and resending by %s', (_, facts, inviting, resending) => {
  expect(codeOf(() => requireInviting({ ...RENEWING, ...facts }, NOW))).toBe(inviting);
  expect(codeOf(() => requireRenewing({ ...RENEWING, ...facts, status: 'expired' }, NOW))).toBe(resending);
});

it.each(INVITATION_STATUSES)('resending and revoking an invitation that is %s', (status) => {
  const expected = status === 'pending' || status === 'expired' ? 'allowed' : 'invitation_ended';
  expect(codeOf(() => requireRenewing({ ...RENEWING, status }, NOW))).toBe(expected);
  expect(codeOf(() => requireRevoking({ ...RENEWING, status }))).toBe(expected);
});

describe('answering', () => {
  const unverified = { userVerifiedAt: null };
  const [ended, unproven, missing] = ['invitation_ended', 'email_not_verified', 'invitation_not_found'];

  it.each<
    [name: string, facts: Partial<AnsweringFacts>, hasCode: boolean, declined: string, accepted: string]
  >([
    ['a verified e-mail', {}, false, 'allowed', 'allowed'],
    ['the code', unverified, true, 'allowed', 'allowed'],
    ['neither', unverified, false, unproven, unproven],
    ['another e-mail', { userEmail: 'x@y.zz' }, true, missing, missing],
    ['no account', { userEmail: null }, true, missing, missing],
    ['a member', { userRole: 'owner' }, false, 'allowed', 'already_member'],
    ['a member, and no proof', { userRole: 'owner', ...unverified }, false, unproven, unproven],
    ['an expired one', { expiresAt: NOW }, false, ended, ended],
    ['a revoked one', { status: 'revoked' }, false, ended, ended],
    ['an inviter who was demoted', { inviterRole: 'member' }, false, ended, ended],
    ['an inviter who is disabled', { inviterDisabledAt: 1 }, false, ended, ended],
    ['an inviter who is suspended', { isInviterSuspended: 1 }, false, ended, ended],
    ['a deleted organization', { orgDeletedAt: 1 }, false, ended, ended],
    ['an ended one, and no proof', { status: 'revoked', ...unverified }, false, unproven, unproven],
  ] as const)('with %s', (_, facts, hasCode, declined, accepted) => {
    expect(codeOf(() => requireAnswer({ ...ANSWERING, ...facts }, hasCode, NOW))).toBe(declined);
    expect(codeOf(() => requireAcceptance({ ...ANSWERING, ...facts }, hasCode, NOW))).toBe(accepted);
  });
});
