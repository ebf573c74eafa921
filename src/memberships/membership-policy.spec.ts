import { describe, expect, it } from 'vitest';
import { type Role, ROLES } from '../access/role.js';
import { canChangeRole, canRemove } from './membership-policy.js';

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
