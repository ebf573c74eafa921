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
  passwordSessionRequired,
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

type Case = [by: Caller, method: string, path: string, body?: object];

/** Each request has every fault that comes after the one it must be answered with. */
describe('the order of checks', () => {
  it.each<[string, object, Case[]]>([
    [
      'authentication first',
      unauthorized,
      [
        [anyone, 'GET', nowhere],
        [anyone, 'POST', `${nowhere}/members`, {}],
        [anyone, 'PATCH', `${nowhere}/members/x`, {}],
        [anyone, 'DELETE', `${nowhere}/members/x`],
        [anyone, 'POST', '/api/orgs', {}],
        [anyone, 'PATCH', nowhere, {}],
        [anyone, 'DELETE', nowhere],
        [anyone, 'POST', `${nowhere}/leave`, {}],
        [anyone, 'POST', `${nowhere}/transfer`, {}],
        [anyone, 'POST', `${nowhere}/restore`, {}],
        [anyone, 'POST', '/api/auth/code', { codeChallenge: 0 }],
      ],
    ],
    [
      'then whether the organization exists, before the kind of session, which would tell that it does',
      orgNotFound,
      [
        [outsider, 'POST', `${nowhere}/members`, {}],
        [outsider, 'PATCH', `${nowhere}/members/x`, {}],
        [outsider, 'DELETE', `${nowhere}/members/x`],
        [outsider, 'GET', `${nowhere}/members/x`],
        [outsider, 'GET', `${nowhere}/members?search=`],
        [outsider, 'PATCH', nowhere, {}],
        [derivedOutsider, 'DELETE', nowhere],
        [derivedOutsider, 'POST', `${nowhere}/transfer`, {}],
        [derivedOutsider, 'POST', `${nowhere}/leave`, {}],
      ],
    ],
    [
      'then membership',
      notAMember,
      [
        [outsider, 'POST', members, {}],
        [outsider, 'PATCH', `${members}/x`, {}],
        [outsider, 'DELETE', `${members}/x`],
        [outsider, 'GET', `${members}?role=`],
        [outsider, 'POST', `${here}/invitations`, { showCode: 1 }],
        [outsider, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
        [derivedOutsider, 'DELETE', here],
        [derivedOutsider, 'POST', `${here}/transfer`, {}],
      ],
    ],
    [
      'then the role',
      insufficientRole('admin', 'member'),
      [
        [member, 'POST', members, {}],
        [member, 'PATCH', `${members}/x`, {}],
        [member, 'DELETE', `${members}/x`],
        [member, 'DELETE', `${members}/${owner.id}`],
        [member, 'PATCH', here, {}],
        [member, 'POST', `${here}/invitations`, { showCode: 1 }],
        [member, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }],
      ],
    ],
    [
      'then the role, of an owner where one is needed',
      insufficientRole('owner', 'admin'),
      [[admin, 'POST', `${here}/transfer`, {}]],
    ],
    ['then the kind of session', passwordSessionRequired, [[derivedOwner, 'POST', `${here}/transfer`, {}]]],
    [
      'then the body',
      invalidFields('role'),
      [
        [admin, 'POST', members, { email: anEmail(), role: 'owner' }],
        [admin, 'PATCH', `${members}/x`, { role: 'root' }],
        [admin, 'PATCH', `${members}/${owner.id}`, {}],
        [owner, 'POST', `${here}/invitations`, { email: member.email, role: 'owner', showCode: true }],
      ],
    ],
    [
      'then the body of another route',
      invalidFields('showCode'),
      [[owner, 'POST', `${here}/invitations/x/resend`, { showCode: 1 }]],
    ],
    [
      'then the account of the email',
      userNotFound,
      [[admin, 'POST', members, { email: anEmail(), role: 'admin' }]],
    ],
    [
      'then whether it is a member already',
      alreadyMember,
      [[admin, 'POST', members, { email: owner.email, role: 'admin' }]],
    ],
    [
      'then the member',
      memberNotFound,
      ['x', anUnknownId()].flatMap((nobody): Case[] => [
        [admin, 'PATCH', `${members}/${nobody}`, { role: 'owner' }],
        [admin, 'DELETE', `${members}/${nobody}`],
      ]),
    ],
    [
      'then the role of the target, before the rule of the last owner',
      insufficientRole('owner', 'admin'),
      [
        [admin, 'PATCH', `${members}/${owner.id}`, { role: 'member' }],
        [admin, 'DELETE', `${members}/${owner.id}`],
      ],
    ],
    ['last the rule of the last owner', lastOwner, [[owner, 'DELETE', `${members}/${owner.id}`]]],
  ])('is %s', async (_what, expected, cases) => {
    for (const [by, method, path, body] of cases) {
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
