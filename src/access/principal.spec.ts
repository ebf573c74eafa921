import { expect, it } from 'vitest';
import { roleAtLeast, ROLES } from './principal.js';

it('orders member below admin below owner', () => {
  const table = ROLES.map((role) => ROLES.filter((required) => roleAtLeast(role, required)));
  expect(table).toEqual([['member'], ['member', 'admin'], ['member', 'admin', 'owner']]);
});
