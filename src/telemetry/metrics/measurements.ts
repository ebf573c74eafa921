import type { ProblemCode } from '../../problems/problem-codes.js';
import { Reading, Signal } from './signal.js';

export interface RequestOutcome {
  method: string;
  /** pattern of the route; undefined for a path that nobody knows */
  route: string | undefined;
  status: number;
  code: ProblemCode | undefined;
  seconds: number;
}

export interface RateLimitDecision {
  limit: string;
  decision: 'admitted' | 'refused';
}

/** Emitted once for each request, when it was answered or its client has left. */
export const requestEnded = new Signal<RequestOutcome>();

/** Emitted for each limit that admitted a request, or that had nothing left for it. */
export const rateLimitDecided = new Signal<RateLimitDecision>();

export const conflictRetried = new Signal<void>();

export const passwordHashes = new Reading(() => ({ running: 0, waiting: 0 }));

export const databaseConnections = new Reading(() => ({ idle: 0, inUse: 0 }));

/** The feed as this process sees it, and how many requests wait for it. */
export const feedState = new Reading(() => ({ lagSeconds: 0, waiters: 0 }));

/** Mails in the outbox by state, as they were counted last: the same for all instances. */
export const mailCounts = new Reading((): Record<string, number> => ({}));
