import type { Env, RateLimit } from '../config/env.js';
import { clientKey } from './client-key.js';
import { rateLimitKey } from './rate-limit-key.js';
import type { Counter } from './rate-limit-store.js';

export const RATE_LIMIT_NAMES = ['register', 'login', 'address', 'lookup'] as const;

/** What providers give to one customer (RFC 6177): whoever changes subnets within it is still the same. */
const CUSTOMER_PREFIX = 56;

export type RateLimitName = (typeof RATE_LIMIT_NAMES)[number];

/** What a request can be counted by. */
export interface Subject {
  /** from `clientAddress` */
  address: string;
  /** in canonical form; undefined where there is none, or none that is usable */
  email: string | undefined;
  /** undefined where nobody is signed in */
  userId: string | undefined;
}

export interface NamedCounter extends Counter {
  name: RateLimitName;
}

interface RateLimitRule {
  limitOf(env: Env): RateLimit | undefined;
  /** undefined: requests of this subject are not counted */
  keyOf(subject: Subject): string | undefined;
  /** what a refused client is told */
  refusal: string;
}

const RULES: Record<RateLimitName, RateLimitRule> = {
  register: {
    limitOf: (env) => env.rateLimitRegister,
    keyOf: ({ address, email }) => email && rateLimitKey('register', clientKey(address), email),
    refusal: 'Too many registrations of this e-mail from your address; wait before the next one.',
  },
  login: {
    limitOf: (env) => env.rateLimitLogin,
    keyOf: ({ address, email }) => email && rateLimitKey('login', clientKey(address), email),
    refusal: 'Too many logins with this e-mail from your address; wait before the next one.',
  },
  address: {
    limitOf: (env) => env.rateLimitAddress,
    keyOf: ({ address, email }) => email && rateLimitKey('address', clientKey(address, CUSTOMER_PREFIX)),
    refusal: 'Too many registrations and logins from your address; wait before the next one.',
  },
  lookup: {
    limitOf: (env) => env.rateLimitLookup,
    keyOf: ({ userId }) => userId && rateLimitKey('lookup', userId),
    refusal: 'Too many of the e-mails that you added have no account; wait before you add the next one.',
  },
};

export const refusalOf = (name: RateLimitName): string => RULES[name].refusal;

/** The limits that are switched on. */
export function activeLimits(env: Env): [RateLimitName, RateLimit][] {
  return RATE_LIMIT_NAMES.flatMap((name) => {
    const limit = RULES[name].limitOf(env);
    return limit ? [[name, limit]] : [];
  });
}

/** A request's counters, under those of the named limits that are switched on and apply to it. */
export function countersOf(env: Env, names: readonly RateLimitName[], subject: Subject): NamedCounter[] {
  return names.flatMap((name) => {
    const limit = RULES[name].limitOf(env);
    const key = limit && RULES[name].keyOf(subject);
    return limit && key ? { ...limit, name, key } : [];
  });
}
