import { expect, it } from 'vitest';
import { Problem } from '../problems/problem.js';
import { type Assurance, DIRECT_SESSION, requireAssurance } from './route-access.js';
import type { AuthenticationMethod } from './principal.js';

const FRESH: Assurance = { login: { secondFactor: true, maxAge: 60 } };
const FRESH_LOGIN: Assurance = { login: { secondFactor: false, maxAge: 60 } };

const session = (ageSeconds: number, isDelegated: boolean, ...amr: AuthenticationMethod[]) => ({
  isDelegated,
  amr,
  authTime: Date.now() - ageSeconds * 1000,
});

function codeOf(work: () => void): string {
  try {
    work();
    return 'met';
  } catch (error) {
    return error instanceof Problem ? error.code : String(error);
  }
}

const STEP_UP = 'insufficient_user_authentication';

it.each([
  ['a login', session(0, false, 'pwd'), ['met', STEP_UP, 'met']],
  ['a login with a second factor', session(0, false, 'pwd', 'otp'), ['met', 'met', 'met']],
  ['one in the last second', session(59, false, 'pwd', 'otp'), ['met', 'met', 'met']],
  ['an older one', session(61, false, 'pwd', 'otp'), ['met', STEP_UP, STEP_UP]],
  ['one of an instance whose clock is ahead', session(-5, false, 'pwd', 'otp'), ['met', 'met', 'met']],
  ['one by a code', session(0, true, 'pwd', 'otp'), ['direct_session_required', STEP_UP, STEP_UP]],
  ['one of which only that is known', { isDelegated: false }, ['met', STEP_UP, STEP_UP]],
])('%s meets what is asked of it', (_, given, expected) => {
  const outcomes = [DIRECT_SESSION, FRESH, FRESH_LOGIN].map((assurance) =>
    codeOf(() => requireAssurance(given, assurance)),
  );
  expect(outcomes).toEqual(expected);
  expect(codeOf(() => requireAssurance(given, undefined))).toBe('met');
});
