import { describe, expect, it } from 'vitest';
import { Problem, RefusedError } from '../../problems/problem.js';
import { LostConflictError } from '../../database/transactions/database-errors.js';
import { CannotRunError } from './definition.js';
import { explain } from './explain.js';

/** A refusal ends with 1, all else with 2. */
describe('what a command threw', () => {
  it.each([
    ['a rule', new RefusedError('no'), true, 'refused: no'],
    ['a rule of the service', new Problem('org_not_found'), true, /^refused: .+ \(org_not_found\)$/],
    ['a wrong usage', new CannotRunError('no'), false, 'error: no'],
    [
      'a lost conflict, which can be tried again',
      new LostConflictError(undefined),
      false,
      /run the command again$/,
    ],
  ])('of %s', (_what, error, isRefusal, line) => {
    expect(explain(error)).toEqual({ lines: [expect.stringMatching(line) as unknown], isRefusal });
  });
});
