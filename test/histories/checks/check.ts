import type { History, Operation, OrgOperation, Timed, Violation } from '../history.js';
import { explain } from './changes.js';
import { brokenDelegations } from './delegation.js';
import { OrgLog, RealTime, type Shown } from './org-log.js';
import {
  broken,
  brokenInvitationLists,
  brokenLogReads,
  brokenMemberLists,
  changesOutOfOrder,
  detailsOfNoRevision,
  staleDetails,
  tagsWithTwoBodies,
} from './org-reads.js';
import { acceptedTwice, brokenSessions } from './sessions.js';

/** Finds whatever in a history breaks what Accounts promises its clients. */
export function violationsIn(history: History): Violation[] {
  const { operations, logs } = history;
  const ofOrgs = operations.filter((one): one is Timed<OrgOperation> => 'orgId' in one);
  return [
    ...[...Map.groupBy(ofOrgs, ({ orgId }) => orgId)].flatMap(([orgId, some]) =>
      violationsInOrg(some, new OrgLog(logs.get(orgId) ?? [])),
    ),
    ...acceptedTwice(operations),
    ...brokenSessions(operations),
    ...brokenDelegations(history),
    // The only error above 499 is 503.
    ...operations
      .filter(({ status = 0 }) => status >= 500 && status !== 503)
      .map((one) => broken('unexpected_answer', `${one.kind} was answered with ${one.status}`, [one])),
  ];
}

function violationsInOrg(operations: readonly Timed<OrgOperation>[], log: OrgLog): Violation[] {
  const changes = operations.filter((one) => one.kind === 'change');
  const details = operations.filter((one) => one.kind === 'detail');
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
  const realTime = new RealTime(shown, log);
  return [
    ...violations,
    ...changesOutOfOrder(made, realTime),
    ...staleDetails(details, realTime),
    ...detailsOfNoRevision(details, changes, log),
    ...tagsWithTwoBodies(details),
    ...operations
      .filter((one) => one.kind === 'members' || one.kind === 'detail')
      .flatMap((read) => brokenMemberLists(read, log, realTime)),
    ...operations
      .filter((one) => one.kind === 'invitations')
      .flatMap((read) => brokenInvitationLists(read, log, realTime)),
    ...logReads.flatMap((read) => brokenLogReads(read, log, realTime)),
  ];
}

function shownBy({ startedAt, endedAt }: Operation, revision: number, isChange = false): Shown {
  return { startedAt, endedAt, revision, isChange };
}
