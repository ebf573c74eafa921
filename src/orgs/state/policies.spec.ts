import { describe, expect, it } from 'vitest';
import { ROLES } from '../../access/principal.js';
import { Problem } from '../../problems/problem.js';
import { INVITATION_STATUSES, type InvitationStatus } from './org.entity.js';
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
import type { AnsweringFacts, RenewingFacts } from './invitations.repository.js';
import type { Departure, MemberPair } from './members.repository.js';
import { requireOtherOwners } from './user-departures.js';

const PAIRS = ROLES.flatMap((one) => ROLES.map((other) => [one, other] as const));

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

describe('a session that a code opened', () => {
  const needsPassword = (rule: () => unknown): boolean => codeOf(rule) === 'step_up_required';

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

  it('is asked for in every organization that is not deleted, unless an operator forces it', () => {
    const kept = { orgId: '1', role: 'owner', hasOtherOwner: 1, isDeleted: 0 } as Departure;
    const orphaned: Departure = { ...kept, orgId: '2', hasOtherOwner: 0 };
    const others: Departure[] = [kept, { ...orphaned, role: 'member' }, { ...orphaned, isDeleted: 1 }];

    expect(() => requireOtherOwners([...others, orphaned], false)).toThrow('the only enabled owner of 2');
    expect(requireOtherOwners([...others, orphaned], true)).toEqual([orphaned]);
    expect(requireOtherOwners(others, false)).toEqual([]);
  });
});

it('lets others add a user up to four fifths of a limit, and leaves the user one of any limit above one', () => {
  const limits = [1, 2, 3, 4, 5, 9, 10, 5000, 100_000];
  expect(limits.map(additionsUpTo)).toEqual([1, 1, 2, 3, 4, 7, 8, 4000, 80_000]);
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

describe('inviting', () => {
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
