import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import type { Caller } from '../support/caller.js';
import {
  alreadyMember,
  idempotencyKeyReused,
  insufficientRole,
  invalidFields,
  lastOwner,
  malformedJson,
  memberNotFound,
  notAMember,
  orgNotFound,
  stepUpRequired,
  preconditionFailed,
  unauthorized,
  unsupportedMediaType,
  userNotFound,
} from '../support/expected.js';
import { anEmail, anOrg, anUnknownId, byCode } from '../support/personas.js';
import { startService } from '../support/service.js';

const DRY = '?dryRun=true';

const service = await startService();
const { anyone } = service;
const { org, owner, admin, member, outsider } = await anOrg(service);
for (const who of [owner, outsider]) {
  await who.with({ 'idempotency-key': 'used' }).post('/api/orgs', { name: 'Once' });
}
const derivedOwner = await byCode(service, owner);
const derivedOutsider = await byCode(service, outsider);
afterAll(() => service.stop());

const nowhere = `/api/orgs/${anUnknownId()}`;
const here = `/api/orgs/${org.id}`;
const members = `${here}/members`;
const tooLow = insufficientRole('admin', 'member');
const notOwner = insufficientRole('owner', 'admin');
const wrongRole = invalidFields('role');

/** Each request has every fault that comes after the one it must be answered with. */
describe('the order of checks', () => {
  it('is authentication, the organization, membership, the role, the session, the body, and the target', async () => {
    const cases: [expected: object, by: Caller, method: string, path: string, body?: object][] = [
      // authentication first
      [unauthorized, anyone, 'GET', nowhere],
      [unauthorized, anyone, 'POST', `${nowhere}/members`, {}],
      [unauthorized, anyone, 'PATCH', `${nowhere}/members/x`, {}],
      [unauthorized, anyone, 'DELETE', `${nowhere}/members/x`],
      [unauthorized, anyone, 'POST', '/api/orgs', {}],
      [unauthorized, anyone, 'PATCH', nowhere, {}],
      [unauthorized, anyone, 'DELETE', nowhere],
      [unauthorized, anyone, 'POST', `${nowhere}/leave`, {}],
      [unauthorized, anyone, 'POST', `${nowhere}/transfer`, {}],
      [unauthorized, anyone, 'POST', `${nowhere}/restore`, {}],
      [unauthorized, anyone, 'POST', '/api/auth/code', { codeChallenge: 0 }],
      // whether the organization exists, before the kind of session, which would tell that it does
      [orgNotFound, outsider, 'POST', `${nowhere}/members`, {}],
      [orgNotFound, outsider, 'PATCH', `${nowhere}/members/x`, {}],
      [orgNotFound, outsider, 'DELETE', `${nowhere}/members/x`],
      [orgNotFound, outsider, 'GET', `${nowhere}/members/x`],
      [orgNotFound, outsider, 'GET', `${nowhere}/members?search=`],
      [orgNotFound, outsider, 'PATCH', nowhere, {}],
      [orgNotFound, derivedOutsider, 'DELETE', nowhere],
      [orgNotFound, derivedOutsider, 'POST', `${nowhere}/transfer`, {}],
      [orgNotFound, derivedOutsider, 'POST', `${nowhere}/leave`, {}],
      // membership
      [notAMember, outsider, 'POST', members, {}],
      [notAMember, outsider, 'PATCH', `${members}/x`, {}],
      [notAMember, outsider, 'DELETE', `${members}/x`],
      [notAMember, outsider, 'GET', `${members}?role=`],
      [notAMember, outsider, 'POST', `${here}/invitations`, { showCode: 1 }],
      [notAMember, outsider, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
      [notAMember, derivedOutsider, 'DELETE', here],
      [notAMember, derivedOutsider, 'POST', `${here}/transfer`, {}],
      // the role
      [tooLow, member, 'POST', members, {}],
      [tooLow, member, 'PATCH', `${members}/x`, {}],
      [tooLow, member, 'DELETE', `${members}/x`],
      [tooLow, member, 'DELETE', `${members}/${owner.id}`],
      [tooLow, member, 'PATCH', here, {}],
      [tooLow, member, 'POST', `${here}/invitations`, { showCode: 1 }],
      [tooLow, member, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
      // the role, of an owner where one is needed
      [notOwner, admin, 'POST', `${here}/transfer`, {}],
      // the kind of session
      [stepUpRequired, derivedOwner, 'POST', `${here}/transfer`, {}],
      // the body
      [wrongRole, admin, 'POST', members, { email: anEmail(), role: 'owner' }],
      [wrongRole, admin, 'PATCH', `${members}/x`, { role: 'root' }],
      [wrongRole, admin, 'PATCH', `${members}/${owner.id}`, {}],
      [wrongRole, owner, 'POST', `${here}/invitations`, { email: member.email, role: 'owner' }],
      // the body of another route
      [invalidFields('showCode'), owner, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
      // the account of the email
      [userNotFound, admin, 'POST', members, { email: anEmail(), role: 'admin' }],
      // whether it is a member already
      [alreadyMember, admin, 'POST', members, { email: owner.email, role: 'admin' }],
      // the member
      [memberNotFound, admin, 'PATCH', `${members}/x`, { role: 'owner' }],
      [memberNotFound, admin, 'DELETE', `${members}/x`],
      [memberNotFound, admin, 'PATCH', `${members}/${anUnknownId()}`, { role: 'owner' }],
      [memberNotFound, admin, 'DELETE', `${members}/${anUnknownId()}`],
      // the role of the target, and last the rule of the last owner
      [notOwner, admin, 'PATCH', `${members}/${owner.id}`, { role: 'member' }],
      [notOwner, admin, 'DELETE', `${members}/${owner.id}`],
      [lastOwner, owner, 'DELETE', `${members}/${owner.id}`],
    ];
    for (const [expected, by, method, path, body] of cases) {
      const answer = await by.sendJson(method, path, body);
      expect(answer, `${method} ${path}: ${answer.text}`).toMatchObject(expected);
    }
  });

  it.each([`${here}/invitations`, `${here}/invitations/x/resend`])(
    'is the format of the body before its fields: POST %s',
    async (path) => {
      const send = (type: string, body: string) =>
        owner.send('POST', path, { headers: { 'content-type': type }, body });
      expect(await send('application/json', '[]')).toMatchObject(malformedJson);
      expect(await send('text/plain', '{}')).toMatchObject(unsupportedMediaType);
    },
  );
});

describe('the order of checks of a change with a precondition and an idempotency key', () => {
  const broken = { 'if-match': 'none', 'idempotency-key': '' };
  const used = { 'idempotency-key': 'used' };
  const demote = (
    by: Caller,
    headers: Record<string, string> = {},
    { role = 'member', at = here, query = '' } = {},
  ): Promise<Answer> =>
    by
      .with({ 'if-match': '"0"', 'idempotency-key': 'new', ...headers })
      .patch(`${at}/members/${owner.id}${query}`, { role });
  const wrong = { role: '', query: '?dryRun=no' };

  it.each<[string, () => Promise<Answer>, object]>([
    ['401', () => demote(anyone, used, { at: nowhere, role: '', query: DRY }), unauthorized],
    [
      '422',
      () => demote(outsider, { ...broken, ...used }, { at: nowhere, role: '', query: DRY }),
      idempotencyKeyReused,
    ],
    ['404', () => demote(outsider, broken, { at: nowhere, ...wrong }), orgNotFound],
    ['403', () => demote(outsider, broken, wrong), notAMember],
    ['400 of the headers', () => demote(owner, broken), invalidFields('If-Match', 'Idempotency-Key')],
    ['400 of the query', () => demote(owner, {}, { query: '?dryRun=no' }), invalidFields('dryRun')],
    ['400 of the body', () => demote(owner, {}, { role: '' }), invalidFields('role')],
    ['412', () => demote(owner), preconditionFailed],
    ['the rules', () => demote(owner, { 'if-match': '*' }), lastOwner],
  ])('is %s next', async (_name, send, expected) => {
    expect(await send()).toMatchObject(expected);
  });
});
