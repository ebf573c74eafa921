import type { OperationName } from '../load/call.ts';

/** Ratios to the baseline in the same run: at least so many requests, at most such a p99. */
export interface Target {
  requestsPerSecond: number;
  p99: number;
}

const HASH = { requestsPerSecond: 0.97, p99: 1.1 };
const READ = { requestsPerSecond: 0.8, p99: 1.5 };
const CODE = { requestsPerSecond: 0.8, p99: 1.5 };
/** one transaction, as the baseline's; it also writes what makes two nodes of a cluster conflict */
const SECOND_STEP = { requestsPerSecond: 0.7, p99: 1.5 };
const REFRESH = { requestsPerSecond: 0.8, p99: 1.5 };
const EXCHANGE = { requestsPerSecond: 0.7, p99: 1.5 };
const LONG_LIST = { requestsPerSecond: 0.9, p99: 1.3 };
/** beside a statement or two and the record, which leave out the caps and the lock */
const INVITATION = { requestsPerSecond: 0.5, p99: 1.5 };
/** beside one statement and the record, which leave out what a cluster needs */
const CHANGE = { requestsPerSecond: 0.6, p99: 1.5 };

/** The service beside a build of its own from before a change. */
export const EARLIER_BUILD_TARGET = { requestsPerSecond: 0.97, p99: 1.1 };

export const TARGETS: Record<OperationName, Target> = {
  register: HASH,
  login: HASH,
  'second step': SECOND_STEP,
  refresh: REFRESH,
  'refresh and use': REFRESH,
  me: READ,
  'issue code': CODE,
  'exchange code': EXCHANGE,
  'create organization': CHANGE,
  'organization of 20': READ,
  'list of 20': READ,
  'organization of 1,000': LONG_LIST,
  'list of 1,000': LONG_LIST,
  'add member': CHANGE,
  'change role': CHANGE,
  'remove member': CHANGE,
  invite: INVITATION,
  'accept invitation': INVITATION,
};

/** for the feed of changes */
export const FEED_TARGETS = {
  eventsPerSecond: 20_000,
  backlogCost: 1.3,
  latencyP99: 500,
  writesBesideReaders: 0.9,
};

/** Requests of a second step against exchanges of a code. */
export const SECOND_STEP_TARGET = 0.7;

/** Processor time beside bare `fetch`, and what the guard admits in a second of it. */
export const CLIENT_TARGETS = { cpu: 1.1, tokensPerSecond: 20_000 };

/** `GET /api/me` under a login flood, its p99 against the one alone. */
export const FLOOD_P99_TARGET = 3;

/** Processor time and waiting for one request, against the smallest size. */
export const GROWTH_COST_TARGET = 1.3;

/** Resident memory after the last tenth of the requests, against that after the second. */
export const SOAK_MEMORY_TARGET = 1.1;

/** Requests of several workers against one, where there are cores for them, the database and the load. */
export const WORKERS_TARGET = 1.7;
