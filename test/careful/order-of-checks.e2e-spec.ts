import { afterAll, describe, expect, it } from 'vitest';
import type { Caller } from '../support/caller.js';
import {
  idempotencyKeyReused,
  invalidFields,
  lastOwner,
  notAMember,
  orgNotFound,
  preconditionFailed,
  unauthorized,
} from '../support/expected.js';
import { anOrg, anUnknownId } from '../support/personas.js';
import { startService } from '../support/service.js';

const DRY = '?dryRun=true';

const service = await startService();
const cast = await anOrg(service);
for (const who of [cast.owner, cast.outsider]) {
  await who.with({ 'idempotency-key': 'used' }).post('/api/orgs', { name: 'Once' });
}
afterAll(() => service.stop());

/** Each request has every fault that comes after the one it must be answered with. */
describe('the order of checks of a careful change', () => {
  const asked = (by: Caller, headers: Record<string, string>) =>
    by.with({ 'if-match': '"0"', 'idempotency-key': 'new', ...headers });
  const demote = (by: Caller, { role = 'member', orgId = cast.org.id, query = '' } = {}) =>
    by.patch(`/api/orgs/${orgId}/members/${cast.owner.id}${query}`, { role });
  const broken = { 'if-match': 'none', 'idempotency-key': '' };
  const used = { 'idempotency-key': 'used' };

  it.each<[string, () => Promise<unknown>, object]>([
    [
      '401',
      () => demote(asked(service.anyone, used), { orgId: anUnknownId(), role: '', query: DRY }),
      unauthorized,
    ],
    [
      '422',
      () =>
        demote(asked(cast.outsider, { ...broken, ...used }), { orgId: anUnknownId(), role: '', query: DRY }),
      idempotencyKeyReused,
    ],
    [
      '404',
      () => demote(asked(cast.outsider, broken), { orgId: anUnknownId(), role: '', query: '?dryRun=no' }),
      orgNotFound,
    ],
    ['403', () => demote(asked(cast.outsider, broken), { role: '', query: '?dryRun=no' }), notAMember],
    [
      '400 of the headers',
      () => demote(asked(cast.owner, broken)),
      invalidFields('If-Match', 'Idempotency-Key'),
    ],
    [
      '400 of the query',
      () => demote(asked(cast.owner, {}), { query: '?dryRun=no' }),
      invalidFields('dryRun'),
    ],
    ['400 of the body', () => demote(asked(cast.owner, {}), { role: '' }), invalidFields('role')],
    ['412', () => demote(asked(cast.owner, {})), preconditionFailed],
    ['the rules', () => demote(asked(cast.owner, { 'if-match': '*' })), lastOwner],
  ])('is %s next', async (_name, send, expected) => {
    expect(await send()).toMatchObject(expected);
  });
});
