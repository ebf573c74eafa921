import type { AuthenticationMethod, Role } from '../api.gen.ts';

/** How a script spoils the signature of a token. */
export type Spoiled = 'unsigned' | 'hs256' | 'stranger' | 'altered';
export const SPOILED: readonly string[] = ['unsigned', 'hs256', 'stranger', 'altered'] satisfies Spoiled[];

/** The name of the service whose guard is tested. */
export const SERVICE = 'billing';

export interface GivenSession {
  user: string;
  /** Names of the sessions above this one. */
  login?: string;
  branch?: string;
  amr?: AuthenticationMethod[];
  /** Seconds since the login. */
  age?: number;
  ended?: boolean;
  /** The services that handed the token on, the latest last. */
  via?: string[];
}

/** An API key of a user for the service whose guard is tested. */
export interface GivenKey {
  user: string;
  role?: Role;
  /** Limits the key to this organization. */
  org?: string;
  /** Seconds until it expires; an hour by default. */
  life?: number;
  /** The services that handed on a token for the key, the latest last. */
  via?: string[];
}

/** What exists before the first step. The users `ada` and `bob` always exist, each with a session of this name. */
export interface Given {
  sessions?: Record<string, GivenSession>;
  keys?: Record<string, GivenKey>;
  members?: Record<string, Record<string, Role>>;
}

export interface Change {
  change: string;
  org?: string;
  user?: string;
  session?: string;
  key?: string;
  role?: Role;
  life?: number;
  service?: string;
  to?: string;
  except?: string;
  /** Seconds until the organization requires a second factor. */
  in?: number;
  /** The organization already requires a second factor, which this member lacks. */
  suspended?: boolean;
  /** An older Accounts, whose event has no epoch. */
  withoutEpoch?: boolean;
  /** Whether the service has the scope `keys`. */
  keys?: boolean;
}

const USERS = ['ada', 'bob'];

export const usersOf = ({ sessions = {}, keys = {}, members = {} }: Given): Set<string> =>
  new Set([
    ...USERS,
    ...[...Object.values(sessions), ...Object.values(keys)].map(({ user }) => user),
    ...Object.values(members).flatMap((org) => Object.keys(org)),
  ]);

export type Route = 'events' | 'introspect' | 'memberships' | 'keys';
export const ROUTES: readonly string[] = ['events', 'introspect', 'memberships', 'keys'] satisfies Route[];
export type Fault = number | 'late' | 'torn' | 'silent' | 'html' | 'redirect';
export const FAULTS: readonly unknown[] = ['late', 'torn', 'silent', 'html', 'redirect'] satisfies Fault[];

export interface Asked {
  session?: string;
  /** Sends this API key, or a token for it. */
  key?: string;
  /** Asks `/check-keys`. */
  keys?: boolean;
  /** Sends the own token of this service. */
  service?: string;
  /** Times as `now+60`, ids as `$ada`. */
  claims?: Record<string, unknown>;
  header?: object;
  spoiled?: Spoiled;
  /** A new token; else each session keeps its token. */
  fresh?: boolean;
  org?: string;
  role?: Role;
  maxAge?: number;
  amr?: string;
  via?: string;
  /** Sends `Accounts-Revision`, by so much above the revision of the organization. */
  ahead?: number;
  /** Replaces `/check` and its parameters. */
  target?: string;
  method?: string;
  headers?: Record<string, string | string[]>;
  /** So many of these checks at once. */
  times?: number;
}

interface Expected {
  answer: string | string[];
  headers?: Record<string, string>;
}
export type CheckStep = { check: Asked; held?: boolean } & Expected;
export type Step =
  | CheckStep
  | ({ until: Asked } & Expected)
  | (Change & { times?: number })
  | { read: true }
  | { fault: Route | 'expired' | 'restored'; as?: Fault }
  | { heal: Route }
  | { hold: Route }
  | { release: Route }
  | { asked: Route; atMost?: number; atLeast?: number }
  | { secret: 'new' }
  | { key: 'new' }
  | { restart: true };

export interface Script {
  version: 1;
  id: string;
  rule: string;
  why: string;
  given?: Given & {
    /** In seconds; 30 by default. */
    maxStaleness?: number;
    /** From before the guard starts, which then need not become ready. */
    faults?: Partial<Record<Route, Fault>>;
  };
  steps: Step[];
}
