import { describe, expect, it } from 'vitest';
import type { History, ListedMember, Timed, Timing } from '../history.js';
import type { DetailRead, InvitationListRead, LogRead, MemberListRead } from '../history.js';
import { violationsIn } from './check.js';
import { ADA, change, event, GRACE, historyWith, INVITATION, LOG, ORG, timing } from './handmade.js';

const OWNER: ListedMember = { userId: ADA, role: 'owner' };
const MEMBER: ListedMember = { userId: GRACE, role: 'member' };

const rulesIn = (history: History): string[] => violationsIn(history).map(({ rule }) => rule);

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
const refused = (startedAt: number, endedAt: number) => ({
  ...timing(startedAt, endedAt, 'failed'),
  status: 403,
});

describe('changes', () => {
  it.each<[string, History, string[]]>([
    ['are as they were acknowledged', historyWith([]), []],
    ['are lost', historyWith([rename(timing(120, 130), 7)]), ['lost_change']],
    ['have one revision together', historyWith([rename(timing(41, 51), 3)]), ['revision_twice']],
    ['come from nowhere', historyWith([], [RENAMED]), ['change_from_nowhere']],
    [
      'were answered as failed and made',
      historyWith([rename(timing(120, 130, 'failed'))], [RENAMED]),
      ['change_from_nowhere'],
    ],
    ['have no answer and were made', historyWith([rename(timing(120, 130, 'unknown'))], [RENAMED]), []],
    ['have no answer and were not made', historyWith([rename(timing(120, 130, 'unknown'))]), []],
    [
      'have no answer, and fewer of them were sent than made',
      historyWith([rename(timing(120, 130, 'unknown'))], [RENAMED, event(8, 'org.renamed')]),
      ['change_from_nowhere'],
    ],
    [
      'were visible before they began',
      historyWith([rename(timing(200, 210), 7), detail(timing(150, 160), 7, 'Three', [OWNER])], [RENAMED]),
      ['change_out_of_order'],
    ],
    [
      'give a role that the member has already',
      historyWith([
        change({ type: 'member.role_changed', userId: GRACE, role: 'member' }, timing(51, 55), 3),
      ]),
      [],
    ],
    [
      'are answered with 500',
      historyWith([{ ...rename(timing(120, 130, 'unknown')), status: 500 }]),
      ['unexpected_answer'],
    ],
  ])('%s', (_, history, rules) => {
    expect(rulesIn(history)).toEqual(rules);
  });
});

describe('an organization', () => {
  it.each<[string, History, string[]]>([
    ['is read at its revision', historyWith([detail(timing(32, 38), 2, 'One', [OWNER, MEMBER])]), []],
    ['is read while it changes', historyWith([detail(timing(42, 48), 2, 'One', [OWNER, MEMBER])]), []],
    ['is stale', historyWith([detail(timing(120, 130), 5, 'Two', [OWNER, MEMBER])]), ['stale_read']],
    [
      'has a name of a later revision',
      historyWith([detail(timing(42, 48), 2, 'Two', [OWNER, MEMBER])]),
      ['detail_of_no_revision'],
    ],
    ['lacks a member', historyWith([detail(timing(105, 108), 5, 'Two', [OWNER])]), ['detail_of_no_revision']],
    [
      'has a name of a change without an answer',
      historyWith(
        [rename(timing(120, 130, 'unknown')), detail(timing(140, 150), 7, 'Three', [OWNER])],
        [RENAMED],
      ),
      [],
    ],
    [
      'has two bodies of one tag',
      historyWith([
        detail(timing(32, 38), 2, 'One', [OWNER, MEMBER]),
        detail(timing(32, 38), 2, 'One', [MEMBER, OWNER]),
      ]),
      ['tag_with_two_bodies'],
    ],
  ])('%s', (_, history, rules) => {
    expect(rulesIn(history)).toEqual(rules);
  });
});

describe('a list of members', () => {
  it.each<[string, History, string[]]>([
    ['is complete', historyWith([list(GRACE, timing(95, 98), [OWNER, MEMBER])]), []],
    ['is of before a removal under way', historyWith([list(GRACE, timing(101, 120), [OWNER, MEMBER])]), []],
    ['is of after a removal under way', historyWith([list(ADA, timing(101, 120), [OWNER])]), []],
    ['lacks a member', historyWith([list(ADA, timing(32, 38), [OWNER])]), ['member_missing']],
    ['has a removed member', historyWith([list(ADA, timing(120, 130), [OWNER, MEMBER])]), ['removed_member']],
    [
      'has a role that the member never had',
      historyWith([list(ADA, timing(101, 105), [OWNER, { ...MEMBER, role: 'admin' }])]),
      ['list_of_no_revision'],
    ],
    ['goes to a removed reader', historyWith([list(GRACE, timing(120, 130), [OWNER])]), ['removed_reader']],
    [
      'is newer than the removal of its reader',
      historyWith([list(GRACE, timing(95, 115), [OWNER])]),
      ['newer_than_removal'],
    ],
    [
      'is newer than the removal of a reader who was added again meanwhile',
      historyWith(
        [
          change({ type: 'member.added', userId: GRACE, role: 'admin' }, timing(111, 113), 7),
          list(GRACE, timing(95, 115), [OWNER]),
        ],
        [event(7, 'member.added', { role: 'admin' }, GRACE)],
      ),
      [],
    ],
    ['is refused to a member', historyWith([list(GRACE, refused(32, 38))]), ['member_refused']],
    ['is refused after a removal', historyWith([list(GRACE, refused(120, 130))]), []],
    ['is refused during a removal', historyWith([list(GRACE, refused(95, 105))]), []],
  ])('%s', (_, history, rules) => {
    expect(rulesIn(history)).toEqual(rules);
  });
});

describe('a list of invitations', () => {
  it.each<[string, Timing, string[], string[]]>([
    ['is complete', timing(72, 78), ['pending'], []],
    ['is of before a change under way', timing(82, 95), ['pending'], []],
    ['is of after a change under way', timing(82, 95), ['revoked'], []],
    ['lacks an invitation', timing(72, 78), [], ['invitation_missing']],
    ['has an invitation twice', timing(82, 95), ['revoked', 'pending'], ['invitation_twice']],
    ['has an older status', timing(92, 98), ['pending'], ['invitations_of_no_revision']],
    [
      'has a status that the invitation never had',
      timing(82, 95),
      ['accepted'],
      ['invitations_of_no_revision'],
    ],
  ])('%s', (_, times, statuses, rules) => {
    expect(rulesIn(historyWith([invitations(times, ...statuses)]))).toEqual(rules);
  });
});

describe('a page of the audit log', () => {
  it.each<[string, Timing, number[], string[]]>([
    ['ends with the latest change', timing(92, 98), [4, 5], []],
    ['is of before a change under way', timing(82, 95), [3, 4], []],
    ['is stale', timing(92, 98), [3, 4], ['stale_read']],
    ['skips an event', timing(92, 98), [3, 5], ['log_with_gaps']],
  ])('%s', (_, times, revisions, rules) => {
    expect(rulesIn(historyWith([logRead(times, ...revisions)]))).toEqual(rules);
  });
});
