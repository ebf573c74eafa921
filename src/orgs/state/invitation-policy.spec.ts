import { describe, expect, it } from 'vitest';
import { type Role, ROLES } from '../../access/principal.js';
import { Problem } from '../../problems/problem.js';
import { INVITATION_STATUSES, type InvitationStatus } from './org.entity.js';
import type { AnsweringFacts, RenewingFacts } from './invitations.repository.js';
import {
  invitableRoles,
  requireAcceptance,
  requireAnswer,
  requireInviting,
  requireRenewing,
  requireRevoking,
} from './invitation-policy.js';

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

function outcome(decide: () => void): string {
  try {
    decide();
    return 'ok';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** Lists the roles that each role may invite to. */
const INVITABLE: Record<Role, string[]> = {
  member: [],
  admin: ['member', 'admin'],
  owner: ['member', 'admin'],
};

describe('inviting', () => {
  for (const role of ROLES) {
    it(`is for ${role}: ${INVITABLE[role].join(', ') || 'nobody'}`, () => {
      expect(invitableRoles(role)).toEqual(INVITABLE[role]);
    });
  }

  it('is for nobody outside', () => {
    expect(invitableRoles(null)).toEqual([]);
  });

  const none = { pendingId: null, pendingUntil: null };
  const cases: [name: string, facts: Partial<RenewingFacts>, outcome: string][] = [
    ['an admin', none, 'ok'],
    ['an owner', { ...none, actorRole: 'owner' }, 'ok'],
    ['a member', { ...none, actorRole: 'member' }, 'insufficient_role'],
    ['somebody removed meanwhile', { ...none, actorRole: null }, 'not_a_member'],
    ['somebody disabled meanwhile', { ...none, actorDisabledAt: 1 }, 'invalid_token'],
    ['somebody deleted meanwhile', { ...none, actorEmail: null, actorRole: null }, 'invalid_token'],
    ['a member of any role', { ...none, targetRole: 'owner' }, 'already_member'],
    ['an e-mail that is invited', {}, 'already_invited'],
    ['an e-mail whose invitation has just expired', { pendingUntil: NOW }, 'ok'],
  ];
  it.each(cases)('of or by %s', (_, facts, expected) => {
    expect(outcome(() => requireInviting({ ...RENEWING, ...facts }, NOW))).toBe(expected);
  });
});

const OPEN = new Set<InvitationStatus>(['pending', 'expired']);

describe.each(INVITATION_STATUSES)('of an invitation that is %s', (status) => {
  const expected = OPEN.has(status) ? 'ok' : 'invitation_ended';
  const facts = { ...RENEWING, status };

  it(`resending: ${expected}`, () => {
    expect(outcome(() => requireRenewing(facts, NOW))).toBe(expected);
  });

  it(`revoking: ${expected}`, () => {
    expect(outcome(() => requireRevoking(facts))).toBe(expected);
  });
});

describe('resending', () => {
  const cases: [name: string, facts: Partial<RenewingFacts>, outcome: string][] = [
    ['by a member', { actorRole: 'member' }, 'insufficient_role'],
    ['to somebody who is a member by now', { targetRole: 'member' }, 'already_member'],
    ['where another one is pending', { status: 'expired', pendingId: 'x' }, 'already_invited'],
    ['where another one was pending', { status: 'expired', pendingId: 'x', pendingUntil: NOW }, 'ok'],
  ];
  it.each(cases)('%s', (_, facts, expected) => {
    expect(outcome(() => requireRenewing({ ...RENEWING, ...facts }, NOW))).toBe(expected);
  });
});

describe('answering', () => {
  const unverified = { userVerifiedAt: null };
  const cases: [
    name: string,
    facts: Partial<AnsweringFacts>,
    hasCode: boolean,
    declined: string,
    accepted: string,
  ][] = [
    ['a verified e-mail', {}, false, 'ok', 'ok'],
    ['the code', unverified, true, 'ok', 'ok'],
    ['neither', unverified, false, 'email_not_verified', 'email_not_verified'],
    ['another e-mail', { userEmail: 'x@y.zz' }, true, 'invitation_not_found', 'invitation_not_found'],
    ['no account', { userEmail: null }, true, 'invitation_not_found', 'invitation_not_found'],
    ['a member', { userRole: 'owner' }, false, 'ok', 'already_member'],
    [
      'a member, and no proof',
      { userRole: 'owner', ...unverified },
      false,
      'email_not_verified',
      'email_not_verified',
    ],
    ['an expired one', { expiresAt: NOW }, false, 'invitation_ended', 'invitation_ended'],
    ['an accepted one', { status: 'accepted' }, false, 'invitation_ended', 'invitation_ended'],
    ['a declined one', { status: 'declined' }, false, 'invitation_ended', 'invitation_ended'],
    ['a revoked one', { status: 'revoked' }, false, 'invitation_ended', 'invitation_ended'],
    ['an inviter who was demoted', { inviterRole: 'member' }, false, 'invitation_ended', 'invitation_ended'],
    ['an inviter who is gone', { inviterRole: null }, false, 'invitation_ended', 'invitation_ended'],
    ['an inviter who is disabled', { inviterDisabledAt: 1 }, false, 'invitation_ended', 'invitation_ended'],
    ['a deleted organization', { orgDeletedAt: 1 }, false, 'invitation_ended', 'invitation_ended'],
    [
      'an ended one, and no proof',
      { status: 'revoked', ...unverified },
      false,
      'email_not_verified',
      'email_not_verified',
    ],
  ];
  it.each(cases)('with %s', (_, facts, hasCode, declined, accepted) => {
    const all = { ...ANSWERING, ...facts };
    expect(outcome(() => requireAnswer(all, hasCode, NOW))).toBe(declined);
    expect(outcome(() => requireAcceptance(all, hasCode, NOW))).toBe(accepted);
  });
});
