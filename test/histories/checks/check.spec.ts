import { expect, it } from 'vitest';
import type {
  DelegationOperation,
  DetailRead,
  Effect,
  History,
  InvitationListRead,
  ListedMember,
  LoggedEvent,
  LogRead,
  MemberListRead,
  Operation,
  OrgOperation,
  Result,
  SessionOperation,
  Timed,
  Timing,
} from '../history.js';
import { violationsIn } from './check.js';

const [ORG, ADA, GRACE, INVITATION] = ['org', 'ada', 'grace', 'invitation'];

/** The timing of an operation from one time to another; answered, or with another result. */
const at =
  (result: Result, status?: number) =>
  (startedAt: number, endedAt: number): Timing => ({ startedAt, endedAt, result, status, instance: 0 });
const ok = at('ok', 200);
const failed = at('failed', 409);
const forbidden = at('failed', 403);
const unauthorized = at('failed', 401);
const unknown = at('unknown');

/** An event by Ada. */
function event(
  revision: number,
  type: string,
  data: Record<string, string> = {},
  userId: string | null = null,
): LoggedEvent {
  return { id: `${revision} ${type}`, type, revision, actorId: ADA, userId, data };
}

/** A change by Ada. */
function change(effect: Effect, times: Timing, revision?: number): Timed<OrgOperation> {
  const made = { kind: 'change', orgId: ORG, actorId: ADA, effect, ...times } as const;
  return revision === undefined ? made : { ...made, revision };
}

/** Ada creates an organization, adds Grace, renames it, invites, revokes the invitation and removes Grace. */
const CHANGES = [
  change({ type: 'org.created', name: 'One' }, ok(0, 10), 1),
  change({ type: 'member.added', userId: GRACE, role: 'member' }, ok(20, 30), 2),
  change({ type: 'org.renamed', name: 'Two' }, ok(40, 50), 3),
  change({ type: 'invitation.created', role: 'member', invitationId: INVITATION }, ok(60, 70), 4),
  change({ type: 'invitation.revoked', invitationId: INVITATION }, ok(80, 90), 5),
  change({ type: 'member.removed', userId: GRACE }, ok(100, 110), 6),
];

const LOG = [
  event(1, 'org.created'),
  event(1, 'member.added', { role: 'owner' }, ADA),
  event(2, 'member.added', { role: 'member' }, GRACE),
  event(3, 'org.renamed'),
  event(4, 'invitation.created', { invitationId: INVITATION, role: 'member' }),
  event(5, 'invitation.revoked', { invitationId: INVITATION, role: 'member' }),
  event(6, 'member.removed', { role: 'member' }, GRACE),
];

/** The rules that are broken by the changes above, and by what else was done and logged. */
function rulesIn(operations: readonly Operation[], events: readonly LoggedEvent[] = []): string[] {
  const logs = new Map([[ORG, [...LOG, ...events]]]);
  const history = { polls: [], stalls: [], faults: [] };
  return violationsIn({ ...history, operations: [...CHANGES, ...operations], logs }).map(({ rule }) => rule);
}

const OWNER: ListedMember = { userId: ADA, role: 'owner' };
const MEMBER: ListedMember = { userId: GRACE, role: 'member' };
const ADMIN: ListedMember = { userId: GRACE, role: 'admin' };
const BOTH = [OWNER, MEMBER];

function detail(times: Timing, revision: number, name: string, members: ListedMember[]): Timed<DetailRead> {
  const seen = { revision, name, members, body: JSON.stringify({ name, members }) };
  return { kind: 'detail', orgId: ORG, readerId: ADA, seen, ...times };
}

function list(readerId: string, times: Timing, members?: ListedMember[]): Timed<MemberListRead> {
  return { kind: 'members', orgId: ORG, readerId, ...(members && { seen: { members } }), ...times };
}

function invitations(times: Timing, ...statuses: string[]): Timed<InvitationListRead> {
  const seen = { invitations: statuses.map((status) => ({ id: INVITATION, status })) };
  return { kind: 'invitations', orgId: ORG, readerId: ADA, limit: 100, seen, ...times };
}

function logRead(times: Timing, ...revisions: number[]): Timed<LogRead> {
  const events = LOG.filter(({ revision }) => revisions.includes(revision)).toReversed();
  return { kind: 'log', orgId: ORG, readerId: ADA, limit: 2, seen: { events }, ...times };
}

const RENAMED = event(7, 'org.renamed');
const rename = (times: Timing, revision?: number) =>
  change({ type: 'org.renamed', name: 'Three' }, times, revision);
const roleChange = change({ type: 'member.role_changed', userId: GRACE, role: 'member' }, ok(51, 55), 3);
const addition = change({ type: 'member.added', userId: GRACE, role: 'admin' }, ok(111, 113), 7);
const ADDED = event(7, 'member.added', { role: 'admin' }, GRACE);

type Row = [name: string, operations: Operation[], rules: string[], events?: LoggedEvent[]];

it.each<Row>([
  ['changes are as they were acknowledged', [], []],
  ['a change is lost', [rename(ok(120, 130), 7)], ['lost_change']],
  ['changes have one revision together', [rename(ok(41, 51), 3)], ['revision_twice']],
  ['a change comes from nowhere', [], ['change_from_nowhere'], [RENAMED]],
  ['a change failed and was made', [rename(failed(120, 130))], ['change_from_nowhere'], [RENAMED]],
  ['a change has no answer and was made', [rename(unknown(120, 130))], [], [RENAMED]],
  ['a change has no answer and was not made', [rename(unknown(120, 130))], []],
  [
    'changes have no answer, and fewer of them were sent than made',
    [rename(unknown(120, 130))],
    ['change_from_nowhere'],
    [RENAMED, event(8, 'org.renamed')],
  ],
  [
    'a change was visible before it began',
    [rename(ok(200, 210), 7), detail(ok(150, 160), 7, 'Three', [OWNER])],
    ['change_out_of_order'],
    [RENAMED],
  ],
  ['a change gives a role that the member has already', [roleChange], []],
  ['a change is answered with 500', [rename(at('unknown', 500)(120, 130))], ['unexpected_answer']],

  ['an organization is read at its revision', [detail(ok(32, 38), 2, 'One', BOTH)], []],
  ['an organization is read while it changes', [detail(ok(42, 48), 2, 'One', BOTH)], []],
  ['an organization is stale', [detail(ok(120, 130), 5, 'Two', BOTH)], ['stale_read']],
  ['it has a name of a later revision', [detail(ok(42, 48), 2, 'Two', BOTH)], ['detail_of_no_revision']],
  ['it lacks a member', [detail(ok(105, 108), 5, 'Two', [OWNER])], ['detail_of_no_revision']],
  [
    'an organization has a name of a change without an answer',
    [rename(unknown(120, 130)), detail(ok(140, 150), 7, 'Three', [OWNER])],
    [],
    [RENAMED],
  ],
  [
    'an organization has two bodies of one tag',
    [detail(ok(32, 38), 2, 'One', BOTH), detail(ok(32, 38), 2, 'One', BOTH.toReversed())],
    ['tag_with_two_bodies'],
  ],

  ['a list of members is complete', [list(GRACE, ok(95, 98), BOTH)], []],
  ['a list is of before a removal under way', [list(GRACE, ok(101, 120), BOTH)], []],
  ['a list is of after a removal under way', [list(ADA, ok(101, 120), [OWNER])], []],
  ['a list lacks a member', [list(ADA, ok(32, 38), [OWNER])], ['member_missing']],
  ['a list has a removed member', [list(ADA, ok(120, 130), BOTH)], ['removed_member']],
  ['a member never had a role', [list(ADA, ok(101, 105), [OWNER, ADMIN])], ['list_of_no_revision']],
  ['a list goes to a removed reader', [list(GRACE, ok(120, 130), [OWNER])], ['removed_reader']],
  ['a list is newer than a removal', [list(GRACE, ok(95, 115), [OWNER])], ['newer_than_removal']],
  [
    'a list is newer than the removal of a reader who was added again meanwhile',
    [addition, list(GRACE, ok(95, 115), [OWNER])],
    [],
    [ADDED],
  ],
  ['a list is refused to a member', [list(GRACE, forbidden(32, 38))], ['member_refused']],
  ['a list is refused after a removal', [list(GRACE, forbidden(120, 130))], []],
  ['a list is refused during a removal', [list(GRACE, forbidden(95, 105))], []],

  ['invitations are complete', [invitations(ok(72, 78), 'pending')], []],
  ['invitations are of before a change under way', [invitations(ok(82, 95), 'pending')], []],
  ['invitations are of after a change under way', [invitations(ok(82, 95), 'revoked')], []],
  ['an invitation is missing', [invitations(ok(72, 78))], ['invitation_missing']],
  ['an invitation is there twice', [invitations(ok(82, 95), 'revoked', 'pending')], ['invitation_twice']],
  ['a status is older', [invitations(ok(92, 98), 'pending')], ['invitations_of_no_revision']],
  ['a status never was', [invitations(ok(82, 95), 'accepted')], ['invitations_of_no_revision']],

  ['a page of the log ends with the latest change', [logRead(ok(92, 98), 4, 5)], []],
  ['a page of the log is of before a change under way', [logRead(ok(82, 95), 3, 4)], []],
  ['a page of the log is stale', [logRead(ok(92, 98), 3, 4)], ['stale_read']],
  ['a page of the log skips an event', [logRead(ok(92, 98), 3, 5)], ['log_with_gaps']],
])('%s', (_, operations, rules, events) => {
  expect(rulesIn(operations, events)).toEqual(rules);
});

const [LOGIN, OPENED] = ['login', 'login/opened'];
const made = (operation: SessionOperation | DelegationOperation, times: Timing): Operation => ({
  ...operation,
  ...times,
});
const use = (session: string, times: Timing) => made({ kind: 'use', session }, times);
const exchange = (times: Timing) => made({ kind: 'exchange', session: OPENED }, times);
const refresh = (generation: number, times: Timing) =>
  made({ kind: 'refresh', session: LOGIN, generation }, times);
const end = (times: Timing, ...sessions: string[]) => made({ kind: 'end', sessions }, times);
const ended = end(ok(0, 10), LOGIN);
const endedOrNot = end(unknown(0, 10), LOGIN);
const sentTwice = [exchange(ok(0, 10)), exchange(unauthorized(20, 30))];

it.each<Row>([
  ['one of two exchanges of a code is answered', [exchange(ok(0, 10)), exchange(failed(0, 10))], []],
  ['a code is exchanged twice', [exchange(ok(0, 10)), exchange(ok(5, 15))], ['code_twice']],
  ['refresh tokens follow one another', [refresh(0, ok(0, 10)), refresh(1, ok(20, 30))], []],
  ['a token is accepted twice', [refresh(0, ok(0, 10)), refresh(0, ok(5, 15))], ['refresh_token_twice']],
  ['a session is used while it ends', [ended, use(LOGIN, ok(5, 15))], []],
  ['a session is used after its end', [ended, use(LOGIN, ok(11, 15))], ['dead_session']],
  ['a session is used after an end without an answer', [endedOrNot, use(LOGIN, ok(11, 15))], []],
  ['a session is used after the end of its login', [ended, use(OPENED, ok(11, 15))], ['dead_session']],
  ['a login is used after a session below', [end(ok(0, 10), OPENED), use(LOGIN, ok(11, 15))], []],
  ['a code is exchanged after the end of its login', [ended, exchange(ok(11, 15))], ['dead_session']],
  ['a login is refreshed after its end', [ended, refresh(0, ok(11, 15))], ['dead_session']],
  ['a session is lost', [use(LOGIN, unauthorized(0, 10))], ['lost_session']],
  ['a session is refused while it ends', [end(ok(5, 20), LOGIN), use(LOGIN, unauthorized(0, 10))], []],
  ['a session is refused after an end that may be', [endedOrNot, use(LOGIN, unauthorized(20, 30))], []],
  ['it ends later', [end(ok(20, 30), LOGIN), use(LOGIN, unauthorized(0, 10))], ['lost_session']],
  ['it is refused as its code was sent twice', [...sentTwice, use(OPENED, unauthorized(40, 50))], []],
  ['a code below was sent twice', [...sentTwice, use(LOGIN, unauthorized(40, 50))], ['lost_session']],
])('%s', (_, operations, rules) => {
  const history = { logs: new Map(), polls: [], stalls: [], faults: [] };
  expect(violationsIn({ ...history, operations }).map(({ rule }) => rule)).toEqual(rules);
});

/** A token for the ledger, handed on from 0 to 10 by a session that was opened before. */
const LINKS = [
  { name: 'login', startedAt: -20, endedAt: -10 },
  { name: 'call', startedAt: 0, endedAt: 10 },
];
const admitted = (times: Timing) => made({ kind: 'admission', guard: 'ledger', links: LINKS }, times);
const introspected = (isActive: boolean, times: Timing) =>
  made({ kind: 'introspection', links: LINKS, isActive }, times);
const cut = (link: string, times: Timing) => made({ kind: 'cut', link }, times);
const revoked = cut('call', ok(20, 30));
const polled = { guard: 'ledger', startedAt: 31, endedAt: 40 };
const withPoll = { polls: [polled] };
const withFault = { faults: ['instance killed'] };

type DelegationRow = [name: string, operations: Operation[], rules: string[], seen?: Partial<History>];

it.each<DelegationRow>([
  ['a token is used', [admitted(ok(20, 30)), introspected(true, ok(20, 30))], []],
  ['a token is admitted after a poll', [revoked, admitted(ok(50, 50))], ['dead_link'], withPoll],
  ['its login ended', [cut('login', ok(20, 30)), admitted(ok(50, 50))], ['dead_link'], withPoll],
  ['another call ended', [cut('other', ok(20, 30)), admitted(ok(50, 50))], [], withPoll],
  ['a token is admitted before the poll is over', [revoked, admitted(ok(39, 50))], [], withPoll],
  ['the poll began earlier', [revoked, admitted(ok(50, 50))], [], { polls: [{ ...polled, startedAt: 29 }] }],
  [
    'the poll is of another guard',
    [revoked, admitted(ok(50, 50))],
    [],
    { polls: [{ ...polled, guard: 'x' }] },
  ],
  ['the call ended before the token', [cut('call', ok(-9, 5)), admitted(ok(50, 50))], [], withPoll],
  ['the end has no answer', [cut('call', unknown(20, 30)), admitted(ok(50, 50))], [], withPoll],
  ['Accounts accepts an ended token', [revoked, introspected(true, ok(31, 35))], ['dead_at_accounts']],
  ['it is introspected while it ends', [revoked, introspected(true, ok(29, 35))], []],
  ['a token is admitted for a second', [revoked, admitted(ok(1030, 1030))], []],
  ['a token is admitted for longer', [revoked, admitted(ok(1031, 1031))], ['late_end']],
  ['a fault struck', [revoked, admitted(ok(5030, 5030))], [], withFault],
  ['a token is admitted for long', [revoked, admitted(ok(5031, 5031))], ['late_end'], withFault],
  [
    'the process got no processor meanwhile',
    [revoked, admitted(ok(1100, 1100)), admitted(ok(1231, 1231))],
    ['late_end'],
    {
      stalls: [
        { startedAt: -70, endedAt: 130 },
        { startedAt: 900, endedAt: 1000 },
      ],
    },
  ],
  ['a token is refused', [admitted(unauthorized(20, 30))], ['lost_link']],
  ['a token is not active', [introspected(false, ok(20, 30))], ['lost_link']],
  ['a token is forbidden', [admitted(forbidden(20, 30))], ['lost_link']],
  ['a guard cannot ask', [admitted(at('unknown', 503)(20, 30))], []],
  ['a token is refused as its call ends', [cut('call', ok(25, 40)), admitted(unauthorized(20, 30))], []],
  ['its call ended while it was issued', [cut('call', ok(-9, 5)), admitted(unauthorized(20, 30))], []],
  ['its call ended before', [cut('call', ok(-9, -1)), admitted(unauthorized(20, 30))], ['lost_link']],
  ['its call ends later', [cut('call', ok(31, 40)), admitted(unauthorized(20, 30))], ['lost_link']],
  ['its call did not end', [cut('call', failed(11, 15)), admitted(unauthorized(20, 30))], ['lost_link']],
  ['its call may have ended', [cut('call', unknown(-9, -1)), admitted(unauthorized(20, 30))], []],
])('%s', (_, operations, rules, seen) => {
  const history = { logs: new Map(), polls: [], stalls: [], faults: [], ...seen };
  expect(violationsIn({ ...history, operations }).map(({ rule }) => rule)).toEqual(rules);
});
