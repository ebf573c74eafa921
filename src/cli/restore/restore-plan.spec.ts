import { expect, it } from 'vitest';
import { firstEntityIdAt } from '../../identifiers/entity-id.js';
import { timeText } from '../../identifiers/text.js';
import type { CopiedEvent } from '../events/event-copy.js';
import { lostEventOf, type LostEvents, noteLost, notePresent } from './lost-events.js';
import { type RestoredFacts, planLine } from './restore-plan.js';

const id = (number: number): string => firstEntityIdAt(1_790_000_000_000 + number);
const [ADA, ORG, INVITATION, SECRET, KEY] = [1, 2, 3, 4, 5].map(id) as [
  string,
  string,
  string,
  string,
  string,
];

type Told = [type: string, data?: object, at?: { time: number; revision: number }];

/** About Ada, the organization and the service, one second after the other, unless the event has its own time. */
function eventsOf(told: readonly Told[]): CopiedEvent[] {
  return told.map(([type, data = {}, at], index) => {
    const [about] = type.split('.');
    const { time, revision } = at ?? { time: 1000 * (index + 1), revision: index + 1 };
    const isOrg = !/^(?:account|service|key|provider)$/.test(about!);
    return {
      id: id(time),
      type: type as CopiedEvent['type'],
      at: timeText(1_790_000_000_000 + time),
      actor: { type: 'user', id: ADA, email: null, sessionId: null },
      orgId: isOrg ? ORG : null,
      orgRevision: isOrg ? revision : null,
      userId: /^(?:account|member|key)\./.test(type) || type === 'invitation.accepted' ? ADA : null,
      userRevision: about === 'account' || about === 'key' ? revision : null,
      sessionId: null,
      requestId: null,
      reason: null,
      data: {
        invitationId: INVITATION,
        role: 'member',
        service: 'billing',
        secretId: SECRET,
        keyId: KEY,
        ...data,
      },
    };
  });
}

const USER = { email: 'ada@example.com', disabledAt: null, operatorSince: null, emailVerifiedAt: 1 };
const SERVICE = {
  allow: 'introspect,events',
  disabledAt: null,
  removedAt: null,
  liveSecrets: [SECRET],
  calls: ['ledger'],
};

interface Present {
  user?: Partial<typeof USER> | Record<string, number | null>;
  org?: { deletedAt?: number | null; secondFactorFrom?: number | null };
  role?: 'member' | 'admin' | 'owner';
  apiKeys?: string[];
  provider?: { createdAt: number; disabledAt: number | null };
  isLinked?: true;
  invitation?: 'pending' | 'accepted' | 'expired';
  service?: Partial<Record<'disabledAt' | 'removedAt', number>> & {
    liveSecrets?: string[];
    calls?: string[];
  };
}

function factsOf({
  user,
  org,
  role,
  invitation,
  service,
  provider,
  isLinked,
  apiKeys,
}: Present): RestoredFacts {
  return {
    users: new Map(user && [[ADA, { ...USER, ...user }]]),
    orgs: new Map(org && [[ORG, { name: 'Engines', deletedAt: null, secondFactorFrom: null, ...org }]]),
    roles: new Map(role && [[`${ORG} ${ADA}`, role]]),
    invitations: new Map(invitation && [[INVITATION, { email: 'joan@example.com', status: invitation }]]),
    services: new Map(service && [['billing', { ...SERVICE, ...service }]]),
    providers: new Map(provider && [['acme', provider]]),
    identities: new Set(isLinked ? [`${ADA} acme`] : []),
    apiKeys: new Set(apiKeys),
  };
}

function linesOf(told: readonly Told[], present: Present): string[] {
  const lost: LostEvents = new Map();
  for (const event of eventsOf(told)) noteLost(lost, lostEventOf(event)!);
  const facts = factsOf(present);
  return [...lost.values()].flatMap((event) => {
    const line = planLine(event, lost, facts);
    if (!line) return [];
    const more = 'role' in line ? ` to ${line.role}` : 'scopes' in line ? ` to ${line.scopes?.join()}` : '';
    return [`${line.group}: ${line.what}${more}`];
  });
}

const user = {};
const org = {};
const service = {};
const operator = { operatorSince: 1 };
const to = (from: string, role: string): Told => ['member.role_changed', { from, to: role }];
const DISABLED: Told = ['account.disabled'];
const ENABLED: Told = ['account.enabled'];
const CALL_REVOKED: Told = ['service.call_revoked', { to: 'ledger' }];
const CALL_ALLOWED: Told = ['service.call_allowed', { to: 'ledger' }];
const AT_WORK = { createdAt: 1, disabledAt: null };
const ACME = { provider: 'acme' };
const READDED: Told[] = [
  ['provider.removed', ACME],
  ['provider.added', ACME],
];
const REMOVAL = ['repeat: provider removed', 'lost: provider added'];
const UNLINKED: Told = ['account.identity_unlinked', ACME];
const LINKED: Told = ['account.identity_linked', { ...ACME, via: 'email' }];
const REMOVED: Told = ['member.removed', { reason: 'removed' }];
const ADDED: Told = ['member.added', { via: 'added' }];
const ACCEPTED: Told = ['invitation.accepted'];

it.each<[string, Told[], Present, string[]]>([
  ['a user disabled since', [DISABLED], { user }, ['repeat: user disabled']],
  ['one who is disabled already', [DISABLED], { user: { disabledAt: 1 } }, []],
  ['one whom the database does not have', [DISABLED], {}, []],
  ['one enabled again since', [DISABLED, ENABLED], { user }, []],
  ['one taken and given back twice', [DISABLED, ENABLED, DISABLED, ENABLED], { user }, []],
  ['one taken last', [DISABLED, ENABLED, DISABLED], { user }, ['repeat: user disabled']],
  ['one enabled since', [ENABLED], { user: { disabledAt: 1 } }, ['lost: user enabled']],
  ['a user deleted since', [DISABLED, ['account.deleted']], { user }, ['repeat: user deleted']],
  [
    'all else of a deleted user',
    [to('admin', 'member'), ['account.password_changed'], ['account.deleted']],
    { user, org, role: 'admin' },
    ['repeat: user deleted'],
  ],
  ['a user registered since', [['account.registered']], {}, ['lost: user registered']],
  ['one registered and deleted since', [['account.registered'], ['account.deleted']], {}, []],
  [
    'an operator revoked since',
    [['account.operator_revoked']],
    { user: operator },
    ['repeat: operator revoked'],
  ],
  ['an identity unlinked since', [UNLINKED], { user, isLinked: true }, ['repeat: identity unlinked']],
  ['one that is not there', [UNLINKED], { user }, []],
  ['one linked again', [UNLINKED, LINKED], { user, isLinked: true }, []],
  [
    'one of a provider of another name',
    [['account.identity_unlinked', { provider: 'x' }]],
    { user, isLinked: true },
    [],
  ],
  [
    'a provider disabled since',
    [['provider.disabled', ACME]],
    { provider: AT_WORK },
    ['repeat: provider disabled'],
  ],
  ['a disabled one', [['provider.disabled', ACME]], { provider: { ...AT_WORK, disabledAt: 1 } }, []],
  [
    'one disabled and removed',
    [
      ['provider.disabled', ACME],
      ['provider.removed', ACME],
    ],
    { provider: AT_WORK },
    ['repeat: provider removed'],
  ],
  ['one removed, after which another has its name', READDED, { provider: AT_WORK }, REMOVAL],
  [
    'one removed, after which another one is disabled',
    [...READDED, ['provider.disabled', ACME]],
    { provider: AT_WORK },
    ['repeat: provider removed'],
  ],
  [
    'users of one that is removed',
    [UNLINKED, ...READDED],
    { user, isLinked: true, provider: AT_WORK },
    REMOVAL,
  ],
  ['one that the restored database added later', READDED, { provider: { ...AT_WORK, createdAt: 2e12 } }, []],
  ['one added and removed', READDED.toReversed(), {}, []],
  [
    'one enabled since',
    [
      ['provider.disabled', ACME],
      ['provider.enabled', ACME],
    ],
    { provider: AT_WORK },
    [],
  ],
  ['an API key revoked since', [['key.revoked']], { user, apiKeys: [KEY] }, ['repeat: API key revoked']],
  ['one that the database does not have', [['key.revoked']], { user }, []],
  ['another one', [['key.revoked', { keyId: id(6) }]], { user, apiKeys: [KEY] }, []],
  ['an API key made since', [['key.created']], { user }, ['lost: API key made']],
  ['one made and revoked since', [['key.created'], ['key.revoked']], { user }, []],
  [
    'an API key of a deleted user',
    [['key.revoked'], ['account.deleted']],
    { user, apiKeys: [KEY] },
    ['repeat: user deleted'],
  ],
  ['an operator granted since', [['account.operator_granted']], { user }, ['lost: operator granted']],
  [
    'an operator replaced',
    [['account.operator_revoked'], ['account.operator_granted']],
    { user: operator },
    [],
  ],
  [
    'a password changed twice',
    [['account.password_changed'], ['account.password_changed']],
    { user },
    ['act: password changed'],
  ],
  ['the password of a lost user', [['account.password_changed']], {}, []],
  [
    'a second factor',
    [['account.second_factor_enabled'], ['account.second_factor_removed']],
    { user },
    ['act: second factor turned off'],
  ],
  [
    'recovery codes',
    [['account.recovery_codes_renewed'], ['account.recovery_code_used']],
    { user },
    ['act: recovery codes renewed', 'act: recovery code used'],
  ],
  [
    'emails',
    [['account.email_changed'], ['account.email_verified']],
    { user: { emailVerifiedAt: null } },
    ['act: email changed', 'lost: email verified'],
  ],
  ['a member removed since', [REMOVED], { user, org, role: 'owner' }, ['repeat: member removed']],
  ['one who is no member', [REMOVED], { user, org }, []],
  ['one removed and added again', [REMOVED, ADDED], { user, org, role: 'member' }, []],
  [
    'one added again with less',
    [REMOVED, ADDED],
    { user, org, role: 'owner' },
    ['repeat: role lowered to member'],
  ],
  ['one added and removed again', [ADDED, REMOVED], { user, org }, []],
  [
    'a role lowered since',
    [to('owner', 'admin')],
    { user, org, role: 'owner' },
    ['repeat: role lowered to admin'],
  ],
  [
    'a role lowered, and raised less',
    [to('owner', 'member'), to('member', 'admin')],
    { user, org, role: 'owner' },
    ['repeat: role lowered to admin'],
  ],
  ['a role raised since', [to('member', 'admin')], { user, org, role: 'member' }, ['lost: role raised']],
  ['a member added since', [ADDED], { user, org }, ['lost: member added']],
  ['an organization deleted since', [['org.deleted']], { org }, ['repeat: organization deleted']],
  ['one purged since', [['org.deleted'], ['org.purged']], { org: { deletedAt: 1 } }, []],
  ['one restored since', [['org.restored']], { org: { deletedAt: 1 } }, ['lost: organization restored']],
  ['one created since', [['org.created']], {}, ['lost: organization created']],
  ['one created and deleted since', [['org.created'], ['org.deleted']], {}, []],
  [
    'a requirement',
    [['org.second_factor_required', { from: timeText(5000) }]],
    { org, user },
    ['act: second factor required'],
  ],
  [
    'one that the database has',
    [['org.second_factor_required', { from: timeText(5000) }]],
    { org: { secondFactorFrom: 5000 } },
    [],
  ],
  [
    'one lifted',
    [['org.second_factor_required', { from: null }]],
    { org: { secondFactorFrom: 5000 } },
    ['act: second factor no longer required'],
  ],
  [
    'an invitation revoked since',
    [['invitation.revoked']],
    { org, invitation: 'pending' },
    ['repeat: invitation revoked'],
  ],
  ['one that ended', [['invitation.revoked']], { org, invitation: 'expired' }, []],
  ['one sent since', [['invitation.created']], { org }, ['lost: invitation sent']],
  ['one accepted', [ACCEPTED, ADDED], { org, user, invitation: 'pending' }, ['lost: member added']],
  [
    'one accepted, and removed since',
    [ACCEPTED, ADDED, REMOVED],
    { org, user, invitation: 'pending' },
    ['repeat: invitation revoked'],
  ],
  [
    'one accepted by a user who is deleted',
    [ACCEPTED, ADDED, REMOVED, ['account.deleted']],
    { org, user, invitation: 'pending' },
    ['repeat: invitation revoked', 'repeat: user deleted'],
  ],
  [
    'one accepted as admin, and lowered since',
    [['invitation.accepted', { role: 'admin' }], to('admin', 'member')],
    { org, user, invitation: 'pending' },
    ['repeat: invitation revoked', 'lost: member added'],
  ],
  ['one declined', [['invitation.declined']], { org, invitation: 'pending' }, []],
  ['a service disabled since', [['service.disabled']], { service }, ['repeat: service disabled']],
  ['one enabled since', [['service.enabled']], { service: { disabledAt: 1 } }, ['lost: service enabled']],
  [
    'one removed since',
    [['service.disabled'], ['service.removed']],
    { service: { disabledAt: 1 } },
    ['repeat: service removed'],
  ],
  ['one added since', [['service.created'], ['service.secret_added']], {}, ['lost: service added']],
  ['one added and removed since', [['service.created'], ['service.removed']], {}, []],
  [
    'scopes revoked since',
    [['service.allowed', { to: 'events,memberships' }]],
    { service },
    ['repeat: scopes of a service revoked to events'],
  ],
  [
    'scopes added since',
    [['service.allowed', { to: 'introspect,events,memberships' }]],
    { service },
    ['lost: scopes of a service added'],
  ],
  [
    'a secret revoked since',
    [['service.secret_revoked']],
    { service },
    ['repeat: secret of a service revoked'],
  ],
  ['one that is revoked', [['service.secret_revoked']], { service: { liveSecrets: [] } }, []],
  ['a call revoked since', [CALL_REVOKED], { service }, ['repeat: call of a service revoked']],
  ['one revoked and allowed since', [CALL_REVOKED, CALL_ALLOWED], { service }, []],
  ['a call to another service', [['service.call_revoked', { to: 'audit' }], CALL_ALLOWED], { service }, []],
  ['a call allowed since', [CALL_ALLOWED], { service: { calls: [] } }, ['lost: call of a service allowed']],
  [
    'a secret added since',
    [['service.secret_added']],
    { service: { liveSecrets: [] } },
    ['lost: secret of a service added'],
  ],
])('plans for %s', (_what, told, present, expected) => {
  expect(linesOf(told, present)).toEqual(expected);
});

it.each<[string, Told, Present, string]>([
  ['the user', DISABLED, { user }, 'ada@example.com'],
  ['the invited person', ['invitation.revoked'], { org, invitation: 'pending' }, 'joan@example.com'],
  [
    'the owner who required a second factor',
    ['org.second_factor_required', { from: timeText(5000) }],
    { org, user },
    'ada@example.com',
  ],
])('shows the email of %s', (_what, told, present, email) => {
  const event = lostEventOf(eventsOf([told])[0]!)!;
  expect(planLine(event, new Map(), factsOf(present))).toMatchObject({ email });
});

const at = (time: number, revision: number) => ({ time, revision });

it.each<[string, Told[], string[]]>([
  [
    'lines out of order',
    [
      ['account.enabled', {}, at(2000, 2)],
      ['account.disabled', {}, at(1000, 1)],
    ],
    [],
  ],
  [
    'an event twice',
    [
      ['account.disabled', {}, at(1000, 1)],
      ['account.enabled', {}, at(2000, 2)],
      ['account.disabled', {}, at(1000, 1)],
    ],
    [],
  ],
  [
    'clocks that differ',
    [
      ['account.disabled', {}, at(9000, 1)],
      ['account.enabled', {}, at(2000, 2)],
    ],
    [],
  ],
  [
    'revisions that started over after a restore',
    [
      ['account.disabled', {}, at(1000, 9)],
      ['account.enabled', {}, at(900_000, 2)],
    ],
    [],
  ],
])('finds the last event in spite of %s', (_what, told, expected) => {
  expect(linesOf(told, { user })).toEqual(expected);
});

it('forgets what a later event of the database has changed, and nothing else', () => {
  const lost: LostEvents = new Map();
  const [before, disabled, after] = eventsOf([ENABLED, DISABLED, ENABLED]).map((event) =>
    lostEventOf(event)!,
  );
  noteLost(lost, disabled!);
  notePresent(lost, before!);
  expect(lost.size).toBe(1);
  notePresent(lost, after!);
  expect(lost.size).toBe(0);
});

it('keeps the order of the copies', () => {
  const told: Told[] = [to('owner', 'admin'), ['org.deleted'], to('admin', 'member')];
  expect(linesOf(told, { user, org, role: 'owner' })).toEqual([
    'repeat: organization deleted',
    'repeat: role lowered to member',
  ]);
});

it.each<Told>([
  ['member.added', { role: 'superadmin' }],
  ['member.role_changed', { to: 1 }],
  ['invitation.revoked', { invitationId: "' OR 1" }],
  ['service.allowed', { to: 'everything' }],
  ['service.disabled', { service: 'Not a name' }],
  ['service.call_revoked', { to: 'Not a name' }],
  ['service.secret_revoked', { secretId: 5 }],
  ['org.second_factor_required', { from: 'soon' }],
])('refuses %s of an unknown form: %j', (...told) => {
  expect(() => eventsOf([told]).map(lostEventOf)).toThrow(
    /^event [-0-9a-f]{36}: not a [a-z._]+ that this version knows$/,
  );
});

it('leaves out what neither gives nor takes anything', () => {
  expect(
    eventsOf([['session.started'], ['org.renamed'], ['mail.of_a_later_version']]).map(lostEventOf),
  ).toEqual([undefined, undefined, undefined]);
});
