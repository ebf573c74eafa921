import { expect, it } from 'vitest';
import { ApiProblems, invalidFields, ownProblems } from './decorators.js';

it('lists what several decorators document in the order in which they are written', () => {
  const own = invalidFields({ role: 'must be a role' });
  class Routes {
    @ApiProblems('rate_limited')
    @ApiProblems(own, 'last_owner')
    change(this: void): void {}

    read(this: void): void {}
  }

  expect(ownProblems(Routes.prototype.change)).toEqual([
    { code: 'rate_limited' },
    own,
    { code: 'last_owner' },
  ]);
  expect(ownProblems(Routes.prototype.read)).toEqual([]);
});
