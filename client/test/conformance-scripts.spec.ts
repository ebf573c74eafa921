import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { requireScript } from '../src/conformance/read-script.ts';
import { readScripts } from '../src/conformance/report.ts';

/** What a guard has to do, by the letter and the number in `rule`. */
const RULES = {
  T: ['signature', 'type', 'issuer and audience', 'times', 'session', 'header', 'new keys'],
  S: [
    'introspection',
    'end of one',
    'end of all',
    'older Accounts',
    'late answers',
    'users',
    'rejected tokens',
  ],
  M: [
    'roles',
    'added and removed',
    'role changes',
    'suspension',
    'due',
    'organizations',
    'late answers',
    'cost',
  ],
  F: ['gap', 'restored', 'full pages', 'torn', 'unknown events', 'late', 'silent', 'strangers', 'start'],
  A: ['failures', 'strangers', 'silence', 'what is known', 'secrets', 'disabled service'],
  R: ['pending', 'known', 'never', 'garbage'],
  L: ['age', 'methods', 'order', 'challenge'],
  D: ['parameters', 'ids', 'original path', 'path form', 'none', 'two headers', 'methods', 'paths', 'answer'],
  C: ['links', 'via', 'revoked calls', 'ended tokens', 'late answers', 'services', 'ways'],
  K: [
    'routes',
    'revoked',
    'role',
    'organization',
    'login',
    'expiry',
    'membership',
    'scope',
    'checksum',
    'handed on',
  ],
};

const scripts = readScripts();

it('has a script for each rule, and no script without a rule', () => {
  const rules = Object.entries(RULES).flatMap(([letter, of]) =>
    of.map((_, index) => `${letter}${index + 1}`),
  );
  expect([...new Set(scripts.map(({ rule }) => rule))].toSorted()).toEqual(rules.toSorted());
  expect(scripts.length).toBeGreaterThanOrEqual(55);
});

it('has the groups of rules that the page describes', () => {
  const page = readFileSync('docs/services-any-language.md', 'utf8');
  const described = [...page.matchAll(/^\| ([A-Z]) +\|/gm)].map(([, letter]) => letter!);
  expect(described.toSorted()).toEqual(Object.keys(RULES).toSorted());
});

it('gives each script an id of its own, steps, and a reason', () => {
  expect(new Set(scripts.map(({ id }) => id)).size).toBe(scripts.length);
  for (const { id, why, steps } of scripts) {
    expect(id).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(why).toMatch(/^[A-Z].*\.$/);
    // A script in which no answer is expected would always pass.
    expect(steps.some((step) => 'check' in step || 'until' in step)).toBe(true);
  }
});

describe('a script that cannot be played is rejected by name', () => {
  const script = { version: 1, id: 'x', rule: 'X1', why: 'A reason.', given: { members: { engines: {} } } };
  const check = { check: { session: 'ada' }, answer: '200' };
  it.each<[string, object, string]>([
    ['another version', { version: 2, steps: [] }, 'script "x": version must be 1, and not 2'],
    ['a member that does not exist', { steps: [], speed: 1 }, 'script "x": has the unknown member "speed"'],
    ['no steps', {}, 'script "x": needs a list of steps'],
    ['no reason', { why: undefined, steps: [] }, 'script "x": needs why'],
    ['an unknown step', { steps: [check, { wait: 5 }] }, 'script "x", step 2: is of no known kind: wait'],
    [
      'an unknown session',
      { steps: [check, check, { check: { session: 'eve' }, answer: '200' }] },
      'script "x", step 3: has the unknown session "eve"',
    ],
    [
      'an unknown organization',
      { steps: [{ check: { org: 'looms' }, answer: '200' }] },
      'script "x", step 1: has the unknown org "looms"',
    ],
    [
      'a misspelled member',
      { steps: [{ ...check, anwser: 1 }] },
      'script "x", step 1: has the unknown member "anwser"',
    ],
    ['a check without an answer', { steps: [{ check: {} }] }, 'script "x", step 1: needs an answer, such as'],
    ['an unknown route', { steps: [{ hold: 'me' }] }, 'script "x", step 1: has the unknown route me'],
    [
      'an unknown fault',
      { steps: [{ fault: 'events', as: 'odd' }] },
      'script "x", step 1: has the unknown fault "odd"',
    ],
    ['an unknown change', { steps: [{ change: 'x' }] }, 'script "x", step 1: has the unknown change "x"'],
    [
      'a change of nobody',
      { steps: [{ change: 'member.removed', org: 'engines' }] },
      'script "x", step 1: needs user',
    ],
    [
      'an unknown API key',
      { steps: [{ change: 'key.revoked', key: 'robot' }] },
      'script "x", step 1: has the unknown key "robot"',
    ],
    ['a key of nobody', { given: { keys: { robot: {} } }, steps: [] }, 'key "robot": needs a user'],
    ['a step that is no object', { steps: [1] }, 'script "x", step 1: is no object'],
  ])('%s', (_what, more, message) => {
    expect(() => requireScript({ ...script, ...more })).toThrow(message);
  });

  it('something else', () => {
    for (const value of [null, 1, 'x', []])
      expect(() => requireScript(value)).toThrow('a script: is no object');
  });
});
