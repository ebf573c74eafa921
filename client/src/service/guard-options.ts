import { type Credentials, requireCredentials } from '../credentials.ts';
import { requireKnown } from '../known-members.ts';
import type { FeedEvent } from './applied-events.ts';
import type { FeedProblem } from './feed.ts';
import type { GuardLog } from './refusal-log.ts';

const LEAST_STALENESS_SECONDS = 4;

export interface GuardOptions {
  /** `JWT_ISSUER` of Accounts */
  issuer: string;
  /** the name of this service, and `JWT_AUDIENCE` where it takes full tokens, too */
  audience: string | readonly string[];
  /** where Accounts is, if that is not the issuer */
  baseUrl?: string | undefined;
  /** of a service that is allowed `introspect`, `memberships` and `events` */
  credentials: Credentials;
  /** seconds for which the feed may be silent, 30 by default and 4 at least */
  maxStaleness?: number | undefined;
  /** takes the place of the global `fetch` */
  fetch?: typeof fetch | undefined;
  /** ends everything, as `close` does */
  signal?: AbortSignal | undefined;
  /** how much is remembered: 20,000 tokens, 100,000 sessions and 100,000 memberships by default */
  limits?:
    | {
        tokens?: number | undefined;
        sessions?: number | undefined;
        /** pairs of a user and an organization */
        memberships?: number | undefined;
      }
    | undefined;
  /** is told each event once it counts, such as to close the connections of an ended session */
  onEvent?: ((event: FeedEvent) => void) | undefined;
  /** is told each failure of the feed */
  onFeedProblem?: ((problem: FeedProblem) => void) | undefined;
  /** is told why requests are refused, each cause at most once a minute; `console` by default */
  log?: GuardLog | undefined;
}

const OPTIONS: readonly string[] = [
  'issuer',
  'audience',
  'baseUrl',
  'credentials',
  'maxStaleness',
  'fetch',
  'signal',
  'limits',
  'onEvent',
  'onFeedProblem',
  'log',
] satisfies (keyof GuardOptions)[];
const LIMITS: readonly string[] = ['tokens', 'sessions', 'memberships'];

/**
 * A guard with one of these mistakes would refuse every request.
 *
 * @throws TypeError for an option that is unknown, missing or empty
 * @throws RangeError where `maxStaleness` is too short
 */
export function requireOptions(options: GuardOptions): void {
  requireKnown('createGuard does', options, OPTIONS);
  requireKnown('limits do', options.limits ?? {}, LIMITS);
  requireCredentials(options.credentials);
  const { issuer, audience, maxStaleness, log } = options;
  if (!isText(issuer)) throw new TypeError('issuer must be the JWT_ISSUER of Accounts');
  const audiences: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  if (audiences.length === 0 || !audiences.every(isText)) {
    throw new TypeError('audience must be the name of this service, or a list of audiences');
  }
  if (log !== undefined && typeof log?.warn !== 'function')
    throw new TypeError('log must have a function warn');
  if (maxStaleness !== undefined && !(maxStaleness >= LEAST_STALENESS_SECONDS)) {
    throw new RangeError(`maxStaleness must be ${LEAST_STALENESS_SECONDS} seconds or more`);
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
