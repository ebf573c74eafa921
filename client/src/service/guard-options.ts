import { baseOf, isHttpUrl } from '../base-url.ts';
import { type Credentials, requireCredentials } from '../credentials.ts';
import { requireKnown } from '../known-members.ts';
import type { FeedEvent } from './applied-events.ts';
import type { FeedProblem } from './feed.ts';
import type { GuardLog } from './refusal-log.ts';

const LEAST_STALENESS_SECONDS = 4;

export interface GuardOptions {
  /** `JWT_ISSUER` of Accounts. */
  issuer: string;
  /** Name of your service, or a list with `JWT_AUDIENCE`, too, if you also accept full access tokens. */
  audience: string | readonly string[];
  /** The URL of Accounts, if it differs from the issuer or if the issuer has a path. */
  baseUrl?: string | undefined;
  /** Name and secret of a service with the scopes `introspect`, `memberships` and `events`. */
  credentials: Credentials;
  /** Seconds for which the event feed may be silent, 30 by default and 4 at least. */
  maxStaleness?: number | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Stops the guard, as `close` does. */
  signal?: AbortSignal | undefined;
  /** How much the guard caches: 100,000 tokens, sessions and memberships by default. */
  limits?:
    | {
        tokens?: number | undefined;
        sessions?: number | undefined;
        /** Pairs of a user and an organization. */
        memberships?: number | undefined;
      }
    | undefined;
  /** Time limit of one decision in milliseconds, 10,000 by default. After that, the guard returns 503. */
  timeoutMs?: number | undefined;
  /**
   * Called with each event after the guard applied it, in the order of the feed, for example to close the connections of an
   * ended session. The guard does not wait for a promise. If a hook throws or rejects, the guard logs the error and continues.
   */
  onEvent?: ((event: FeedEvent) => unknown) | undefined;
  /**
   * Called when events may have been missed: at the start, and after the feed had to start over. State that you keep by events
   * is void. Read it again now: the next events are later than this call.
   */
  onReset?: (() => unknown) | undefined;
  /** Called with each failure of the event feed. */
  onFeedProblem?: ((problem: FeedProblem) => unknown) | undefined;
  /** Receives one line a minute at most for each cause of rejected requests. `console` by default. */
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
  'timeoutMs',
  'onEvent',
  'onReset',
  'onFeedProblem',
  'log',
] satisfies (keyof GuardOptions)[];
const HOOKS = ['onEvent', 'onReset', 'onFeedProblem'] as const;
const LIMITS: readonly string[] = ['tokens', 'sessions', 'memberships'];

/**
 * Rejects options with which the guard would reject every request.
 *
 * @throws TypeError for an option that is unknown, missing or empty
 * @throws RangeError if `maxStaleness` or `timeoutMs` is too short
 */
export function requireOptions(options: GuardOptions): void {
  requireKnown('createGuard does', options, OPTIONS);
  requireKnown('limits do', options.limits ?? {}, LIMITS);
  requireCredentials(options.credentials);
  const { issuer, audience, maxStaleness, timeoutMs, log } = options;
  if (!isText(issuer)) throw new TypeError('issuer must be the JWT_ISSUER of Accounts');
  requireBaseUrl(options);
  const audiences: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  if (audiences.length === 0 || !audiences.every(isText)) {
    throw new TypeError('audience must be the name of this service, or a list of audiences');
  }
  if (log !== undefined && typeof log?.warn !== 'function')
    throw new TypeError('log must have a function warn');
  const wrongHook = HOOKS.find((name) => options[name] !== undefined && typeof options[name] !== 'function');
  if (wrongHook !== undefined) throw new TypeError(`${wrongHook} must be a function`);
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    throw new RangeError('timeoutMs must be a number of milliseconds above 0');
  if (maxStaleness !== undefined && !(maxStaleness >= LEAST_STALENESS_SECONDS)) {
    throw new RangeError(`maxStaleness must be ${LEAST_STALENESS_SECONDS} seconds or more`);
  }
}

/** If the issuer has a path, Accounts may be below that path or not. */
function requireBaseUrl({ issuer, baseUrl }: GuardOptions): void {
  if (baseUrl !== undefined) {
    baseOf(baseUrl);
    return;
  }
  const has = isHttpUrl(issuer)
    ? new URL(issuer).pathname === '/'
      ? undefined
      : 'has a path'
    : 'is not a URL';
  if (has !== undefined) throw new TypeError(`the issuer ${has}: also pass baseUrl, the URL of Accounts`);
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
