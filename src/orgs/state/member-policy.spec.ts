import { describe, expect, it } from 'vitest';
import { type Role, ROLES } from '../../access/principal.js';
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
  owner: [
    'member>member',
    'member>admin',
    'member>owner',
    'admin>member',
    'admin>admin',
    'admin>owner',
    'owner>member',
    'owner>admin',
    'owner>owner',
  ],
};

const REMOVALS: Record<Role, Role[]> = {
  member: [],
  admin: ['member', 'admin'],
  owner: ['member', 'admin', 'owner'],
};

describe('changing a role', () => {
  for (const actor of ROLES) {
    for (const from of ROLES) {
      for (const to of ROLES) {
        const allowed = CHANGES[actor].includes(`${from}>${to}`);
        it(`${actor} ${allowed ? 'may' : 'may not'} make ${from} ${to}`, () => {
          expect(canChangeRole(actor, from, to)).toBe(allowed);
        });
      }
    }
  }
});

describe('removing', () => {
  for (const actor of ROLES) {
    for (const target of ROLES) {
      const allowed = REMOVALS[actor].includes(target);
      it(`${actor} ${allowed ? 'may' : 'may not'} remove ${target}`, () => {
        expect(canRemove(actor, target)).toBe(allowed);
      });
    }
  }
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
    return (error as { code: string }).code;
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

  it.each(ROLES.flatMap((from) => ROLES.map((to) => [from, to] as const)))(
    'changes %s to %s unless one of them is owner',
    (from, to) => {
      const facts: MemberPair = { ...FACTS, targetRole: from };
      expect(needsPassword(() => requireChange(facts, to, BY_CODE))).toBe(from === 'owner' || to === 'owner');
      expect(codeOf(() => requireChange(facts, to, BY_PASSWORD))).toBe('allowed');
    },
  );

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
