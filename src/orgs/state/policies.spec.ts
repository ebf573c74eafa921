import { describe, expect, it } from 'vitest';
import { type Role, ROLES } from '../../access/principal.js';
import { Problem } from '../../problems/problem.js';
import { INVITATION_STATUSES, type InvitationStatus } from './org.entity.js';
import {
  invitableRoles,
  requireAcceptance,
  requireAnswer,
  requireInviting,
  requireRenewing,
  requireRevoking,
} from './invitation-policy.js';
import type { AnsweringFacts, RenewingFacts } from './invitations.repository.js';
import {
  additionsUpTo,
  canChangeRole,
  canRemove,
  requireAddition,
  requireAdmin,
  requireChange,
  requireLeaving,
  requireOtherOwner,
  requireOwner,
  requireRemoval,
  requireTransfer,
} from './member-policy.js';
import type { AdditionFacts, MemberPair } from './members.repository.js';

/** Every [from, to] that an actor may do, written out; everything else is refused. */
const CHANGES: Record<Role, string[]> = {
  member: [],
  admin: ['member>member', 'member>admin', 'admin>member', 'admin>admin'],
  owner: ROLES.flatMap((from) => ROLES.map((to) => `${from}>${to}`)),
};

const REMOVALS: Record<Role, Role[]> = {
  member: [],
  admin: ['member', 'admin'],
  owner: ['member', 'admin', 'owner'],
};

const PAIRS = ROLES.flatMap((one) => ROLES.map((other) => [one, other] as const));

it.each(PAIRS)('as %s, changing the role of a %s, and removing one', (actor, target) => {
  for (const to of ROLES)
    expect(canChangeRole(actor, target, to)).toBe(CHANGES[actor].includes(`${target}>${to}`));
  expect(canRemove(actor, target)).toBe(REMOVALS[actor].includes(target));
});

/** Lists which roles may do each thing to the organization itself. */
const ACTIONS = {
  rename: { rule: requireAdmin, may: ['admin', 'owner'] },
  delete: { rule: requireOwner, may: ['owner'] },
  transfer: {
    rule: (actorRole: Role | null) => requireTransfer({ ...FACTS, actorRole }),
    may: ['owner'],
  },
  leave: {
    rule: (targetRole: Role | null) => requireLeaving({ ...FACTS, targetRole }, BY_PASSWORD),
    may: ['member', 'admin', 'owner'],
  },
} as const;

const BY_PASSWORD = { isDelegated: false };
const BY_CODE = { isDelegated: true };

const FACTS: MemberPair = {
  actorRole: 'owner',
  targetRole: 'member',
  hasOtherOwner: 1,
  isTargetDisabled: 0,
  isTargetInviter: 0,
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

describe.each(Object.entries(ACTIONS))('to %s', (_name, { rule, may }) => {
  it.each([...ROLES, null])('as %s', (role) => {
    const refused = role === null ? 'not_a_member' : 'insufficient_role';
    const allowed = role !== null && (may as readonly Role[]).includes(role);
    expect(codeOf(() => rule(role))).toBe(allowed ? 'allowed' : refused);
  });
});

describe('a target', () => {
  const NOBODY: MemberPair = { ...FACTS, targetRole: null };
  const ADDITION: AdditionFacts = {
    actorRole: 'admin',
    userId: 'grace',
    emailVerifiedAt: null,
    targetRole: null,
    isInvited: 0,
  };

  it('of a change, a removal or a transfer is a member', () => {
    expect(codeOf(() => requireChange(NOBODY, 'admin', BY_PASSWORD))).toBe('member_not_found');
    expect(codeOf(() => requireRemoval(NOBODY, BY_PASSWORD))).toBe('member_not_found');
    expect(codeOf(() => requireTransfer(NOBODY))).toBe('member_not_found');
  });

  it('of an addition has an account, verified where that is asked for, and is no member yet', () => {
    const verified: AdditionFacts = { ...ADDITION, emailVerifiedAt: 1 };
    expect(requireAddition(ADDITION, false)).toBe('grace');
    expect(requireAddition(verified, true)).toBe('grace');
    expect(codeOf(() => requireAddition(ADDITION, true))).toBe('user_not_found');
    expect(codeOf(() => requireAddition({ ...verified, userId: null }, false))).toBe('user_not_found');
    expect(codeOf(() => requireAddition({ ...verified, targetRole: 'member' }, true))).toBe('already_member');
  });
});

describe('a session that a code opened', () => {
  const needsPassword = (rule: () => unknown): boolean => codeOf(rule) === 'password_session_required';

  it.each(PAIRS)('changes %s to %s unless one of them is owner', (from, to) => {
    const facts: MemberPair = { ...FACTS, targetRole: from };
    expect(needsPassword(() => requireChange(facts, to, BY_CODE))).toBe(from === 'owner' || to === 'owner');
    expect(codeOf(() => requireChange(facts, to, BY_PASSWORD))).toBe('allowed');
  });

  it.each(ROLES)('removes a %s, and leaves as one, unless that is an owner', (targetRole) => {
    const facts: MemberPair = { ...FACTS, targetRole };
    expect(needsPassword(() => requireRemoval(facts, BY_CODE))).toBe(targetRole === 'owner');
    expect(needsPassword(() => requireLeaving(facts, BY_CODE))).toBe(targetRole === 'owner');
  });

  it('learns first that the role of the actor is too low', () => {
    const facts: MemberPair = { ...FACTS, actorRole: 'admin', targetRole: 'owner' };
    expect(codeOf(() => requireChange(facts, 'admin', BY_CODE))).toBe('insufficient_role');
    expect(codeOf(() => requireRemoval(facts, BY_CODE))).toBe('insufficient_role');
  });
});

describe('an enabled owner', () => {
  const LAST: MemberPair = { ...FACTS, targetRole: 'owner', hasOtherOwner: 0 };
  const ENDINGS: Record<string, (facts: MemberPair) => unknown> = {
    'becomes admin': (facts) => requireChange(facts, 'admin', BY_PASSWORD),
    'becomes member': (facts) => requireChange(facts, 'member', BY_PASSWORD),
    'is removed': (facts) => requireRemoval(facts, BY_PASSWORD),
    leaves: (facts) => requireLeaving(facts, BY_PASSWORD),
  };

  it.each(Object.entries(ENDINGS))('stays when the last one %s', (_what, rule) => {
    expect(codeOf(() => rule(LAST))).toBe('last_owner');
    expect(codeOf(() => rule({ ...LAST, hasOtherOwner: 1 }))).toBe('allowed');
    expect(codeOf(() => rule({ ...LAST, targetRole: 'admin' }))).toBe('allowed');
  });

  it('is not made of somebody disabled', () => {
    const disabled: MemberPair = { ...FACTS, isTargetDisabled: 1 };
    expect(codeOf(() => requireTransfer(disabled))).toBe('member_disabled');
    expect(codeOf(() => requireChange(disabled, 'owner', BY_PASSWORD))).toBe('member_disabled');
    expect(codeOf(() => requireChange(disabled, 'admin', BY_PASSWORD))).toBe('allowed');
    expect(codeOf(() => requireChange({ ...disabled, targetRole: 'owner' }, 'owner', BY_PASSWORD))).toBe(
      'allowed',
    );
  });

  it('is asked for in every organization, unless an operator forces it', () => {
    const kept = { id: 1, role: 'owner', hasOtherOwner: 1 } as const;
    const orphaned = { id: 2, role: 'owner', hasOtherOwner: 0 } as const;
    const member = { id: 3, role: 'member', hasOtherOwner: 0 } as const;
    const refuse = (those: readonly { id: number }[]): Error => new Error(those.map(({ id }) => id).join());

    expect(() => requireOtherOwner([kept, orphaned, member], { refuse })).toThrow('2');
    expect(requireOtherOwner([kept, orphaned, member], { force: true, refuse })).toEqual([orphaned]);
    expect(requireOtherOwner([kept, member], { refuse })).toEqual([]);
  });
});

it.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 3],
  [5, 4],
  [9, 7],
  [10, 8],
  [5000, 4000],
  [100_000, 80_000],
])('of a limit of %i, others can add up to %i', (limit, expected) => {
  expect(additionsUpTo(limit)).toBe(expected);
});

it('leaves the user at least one of any limit above one', () => {
  for (let limit = 2; limit <= 1000; limit += 1) expect(additionsUpTo(limit)).toBeLessThan(limit);
});

const NOW = 1_800_000_000_000;
const EMAIL = 'grace@example.com';

const ROW = {
  id: 'i',
  orgId: 'o',
  email: EMAIL,
  role: 'member',
  status: 'pending',
  codeNumber: 1,
  codeShown: 0,
  tries: 0,
  invitedBy: 'a',
  createdAt: NOW - 1,
  expiresAt: NOW + 1,
} as const;

const RENEWING: RenewingFacts = {
  ...ROW,
  actorRole: 'admin',
  actorEmail: 'ada@example.com',
  actorDisabledAt: null,
  targetRole: null,
  pendingId: 'i',
  pendingUntil: NOW + 1,
  hasRoom: 1,
};

const ANSWERING: AnsweringFacts = {
  ...ROW,
  orgName: 'Engines',
  orgDeletedAt: null,
  inviterRole: 'admin',
  inviterDisabledAt: null,
  userEmail: EMAIL,
  userVerifiedAt: 1,
  userRole: null,
};

/** Lists the roles that each role may invite to. */
const INVITABLE: Record<Role, string[]> = {
  member: [],
  admin: ['member', 'admin'],
  owner: ['member', 'admin'],
};

describe('inviting', () => {
  it.each([...ROLES, null])('is for %s', (role) => {
    expect(invitableRoles(role)).toEqual(role === null ? [] : INVITABLE[role]);
  });

  const none = { pendingId: null, pendingUntil: null };
  const cases: [name: string, facts: Partial<RenewingFacts>, expected: string][] = [
    ['an admin', none, 'allowed'],
    ['an owner', { ...none, actorRole: 'owner' }, 'allowed'],
    ['a member', { ...none, actorRole: 'member' }, 'insufficient_role'],
    ['somebody removed meanwhile', { ...none, actorRole: null }, 'not_a_member'],
    ['somebody disabled meanwhile', { ...none, actorDisabledAt: 1 }, 'invalid_token'],
    ['somebody deleted meanwhile', { ...none, actorEmail: null, actorRole: null }, 'invalid_token'],
    ['a member of any role', { ...none, targetRole: 'owner' }, 'already_member'],
    ['an e-mail that is invited', {}, 'already_invited'],
    ['an e-mail whose invitation has just expired', { pendingUntil: NOW }, 'allowed'],
  ];
  it.each(cases)('of or by %s', (_, facts, expected) => {
    expect(codeOf(() => requireInviting({ ...RENEWING, ...facts }, NOW))).toBe(expected);
  });
});

const OPEN = new Set<InvitationStatus>(['pending', 'expired']);

it.each(INVITATION_STATUSES)('of an invitation that is %s: resending and revoking', (status) => {
  const expected = OPEN.has(status) ? 'allowed' : 'invitation_ended';
  expect(codeOf(() => requireRenewing({ ...RENEWING, status }, NOW))).toBe(expected);
  expect(codeOf(() => requireRevoking({ ...RENEWING, status }))).toBe(expected);
});

describe('resending', () => {
  const cases: [name: string, facts: Partial<RenewingFacts>, expected: string][] = [
    ['by a member', { actorRole: 'member' }, 'insufficient_role'],
    ['to somebody who is a member by now', { targetRole: 'member' }, 'already_member'],
    ['where another one is pending', { status: 'expired', pendingId: 'x' }, 'already_invited'],
    ['where another one was pending', { status: 'expired', pendingId: 'x', pendingUntil: NOW }, 'allowed'],
  ];
  it.each(cases)('%s', (_, facts, expected) => {
    expect(codeOf(() => requireRenewing({ ...RENEWING, ...facts }, NOW))).toBe(expected);
  });
});

describe('answering', () => {
  const unverified = { userVerifiedAt: null };
  const [ended, unproven, missing] = [
    'invitation_ended',
    'email_not_verified',
    'invitation_not_found',
  ] as const;
  type Case = [
    name: string,
    facts: Partial<AnsweringFacts>,
    hasCode: boolean,
    declined: string,
    accepted: string,
  ];
  const cases: Case[] = [
    ['a verified e-mail', {}, false, 'allowed', 'allowed'],
    ['the code', unverified, true, 'allowed', 'allowed'],
    ['neither', unverified, false, unproven, unproven],
    ['another e-mail', { userEmail: 'x@y.zz' }, true, missing, missing],
    ['no account', { userEmail: null }, true, missing, missing],
    ['a member', { userRole: 'owner' }, false, 'allowed', 'already_member'],
    ['a member, and no proof', { userRole: 'owner', ...unverified }, false, unproven, unproven],
    ['an expired one', { expiresAt: NOW }, false, ended, ended],
    ['an accepted one', { status: 'accepted' }, false, ended, ended],
    ['a declined one', { status: 'declined' }, false, ended, ended],
    ['a revoked one', { status: 'revoked' }, false, ended, ended],
    ['an inviter who was demoted', { inviterRole: 'member' }, false, ended, ended],
    ['an inviter who is gone', { inviterRole: null }, false, ended, ended],
    ['an inviter who is disabled', { inviterDisabledAt: 1 }, false, ended, ended],
    ['a deleted organization', { orgDeletedAt: 1 }, false, ended, ended],
    ['an ended one, and no proof', { status: 'revoked', ...unverified }, false, unproven, unproven],
  ];
  it.each(cases)('with %s', (_, facts, hasCode, declined, accepted) => {
    const all = { ...ANSWERING, ...facts };
    expect(codeOf(() => requireAnswer(all, hasCode, NOW))).toBe(declined);
    expect(codeOf(() => requireAcceptance(all, hasCode, NOW))).toBe(accepted);
  });
});
