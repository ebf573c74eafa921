import type { History, Operation, OrgOperation, Timed, Violation } from '../history.js';
import { broken, explain } from './changes.js';
import { detailsOfNoRevision, tagsWithTwoBodies } from './details.js';
import { brokenInvitationLists } from './invitation-lists.js';
import { brokenMemberLists } from './member-lists.js';
import { brokenLogReads, changesOutOfOrder, staleDetails } from './order.js';
import { OrgLog } from './org-log.js';
import { RealTime, type Shown } from './real-time.js';
import { acceptedTwice, brokenSessions } from './sessions.js';

/** Finds whatever in a history breaks what Accounts promises its clients. */
export function violationsIn({ operations, logs }: History): Violation[] {
  const byOrg = Map.groupBy(operations.filter(isOfOrg), ({ orgId }) => orgId);
  return [
    ...[...byOrg].flatMap(([orgId, some]) => violationsInOrg(some, new OrgLog(logs.get(orgId) ?? []))),
    ...acceptedTwice(operations),
    ...brokenSessions(operations),
    ...unexpectedAnswers(operations),
  ];
}

function violationsInOrg(operations: readonly Timed<OrgOperation>[], log: OrgLog): Violation[] {
  const changes = operations.filter((one) => one.kind === 'change');
  const details = operations.filter((one) => one.kind === 'detail');
  const lists = operations.filter((one) => one.kind === 'members' || one.kind === 'detail');
  const invitationLists = operations.filter((one) => one.kind === 'invitations');
  const logReads = operations.filter((one) => one.kind === 'log');
  const { violations, made, idle } = explain(changes, log);
  const shown: Shown[] = [
    ...[...made].map(([change, revision]) => shownBy(change, revision, true)),
    ...[...idle].map(([change, revision]) => shownBy(change, revision)),
    ...details.flatMap((read) => (read.seen ? [shownBy(read, read.seen.revision)] : [])),
    ...logReads.flatMap(
      (read) => read.seen?.events.slice(0, 1).map(({ revision }) => shownBy(read, revision)) ?? [],
    ),
  ];
  const realTime = new RealTime(shown);
  return [
    ...violations,
    ...changesOutOfOrder(made, realTime),
    ...staleDetails(details, realTime),
    ...detailsOfNoRevision(details, changes, log),
    ...tagsWithTwoBodies(details),
    ...brokenMemberLists(lists, log, realTime),
    ...brokenInvitationLists(invitationLists, log, realTime),
    ...brokenLogReads(logReads, log, realTime),
  ];
}

/** The only error above 499 is 503. */
function unexpectedAnswers(operations: readonly Operation[]): Violation[] {
  return operations
    .filter(({ status = 0 }) => status >= 500 && status !== 503)
    .map((one) => broken('unexpected_answer', `${one.kind} was answered with ${one.status}`, [one]));
}

function isOfOrg(one: Operation): one is Timed<OrgOperation> {
  return 'orgId' in one;
}

function shownBy({ startedAt, endedAt }: Operation, revision: number, isChange = false): Shown {
  return { startedAt, endedAt, revision, isChange };
}
