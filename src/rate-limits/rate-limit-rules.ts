import type { FastifyRequest } from 'fastify';
import { limitKey } from '../access/principal.js';
import type { Env } from '../config/env.js';
import type { RateLimit } from '../config/readers.js';
import { clientAddress } from '../http/request-origin.js';
import { type ProblemCode, PROBLEMS } from '../problems/problem-codes.js';
import { normalizedEmail } from '../users/email-address.js';
import { clientKey, type Counter, emailKey, rateLimitKey } from './rate-limit-store.js';

export interface NamedCounter extends Counter {
  name: RateLimitName;
}

interface RateLimitRule {
  limitOf: (env: Env) => RateLimit | undefined;
  /** undefined means not counted; the body is valid but raw, since pipes run after guards */
  keyOf: (request: FastifyRequest) => string | undefined;
  counts?: (code: ProblemCode | undefined) => boolean;
  /** whether a password reset or an operator lifts it */
  isLifted?: true;
  refusal: string;
}

/** a customer's usual network (RFC 6177), so that changing subnets makes no new client */
const CUSTOMER_PREFIX = 56;

const RULES = {
  register: {
    limitOf: (env) => env.rateLimitRegister,
    keyOf: (request) => keyOfEmail('register', request),
    refusal: 'Too many registrations with this email from your IP address; wait before the next one.',
  },
  login: {
    limitOf: (env) => env.rateLimitLogin,
    keyOf: (request) => keyOfEmail('login', request),
    isLifted: true,
    refusal: 'Too many logins with this email from your IP address; wait before the next one.',
  },
  address: {
    limitOf: (env) => env.rateLimitIp,
    keyOf: (request) =>
      namesAccount(request)
        ? rateLimitKey('address', clientKey(clientAddress(request), CUSTOMER_PREFIX))
        : undefined,
    refusal:
      'Too many registrations, logins and password requests from your IP address; wait before the next one.',
  },
  account: {
    limitOf: (env) => env.rateLimitFailedLogins,
    keyOf: (request) => {
      const email = emailIn(request);
      return email && accountKey(email);
    },
    counts: (code) => code === 'invalid_credentials' || code === 'wrong_password',
    isLifted: true,
    refusal: 'Too many failed logins with this email; wait before the next one.',
  },
  lookup: {
    limitOf: (env) => env.rateLimitLookup,
    keyOf: (request) => keyOfPrincipal('lookup', request),
    counts: (code) => code === 'user_not_found',
    refusal: 'Too many of the emails that you added belong to no user; wait before you add the next one.',
  },
  forgot: {
    limitOf: (env) => env.rateLimitForgot,
    keyOf: (request) => keyOfEmail('forgot', request),
    refusal: 'Too many requests for a code from your IP address; wait before the next one.',
  },
  code: {
    limitOf: (env) => env.rateLimitCode,
    keyOf: (request) => keyOfEmail('code', request),
    refusal: 'Too many attempts to enter a code from your IP address; wait before the next one.',
  },
  provider: {
    limitOf: (env) => env.rateLimitProvider,
    keyOf: (request) => rateLimitKey('provider', clientKey(clientAddress(request))),
    // An IP address may be a whole office, so logins that succeed do not count.
    counts: (code) =>
      code === 'invalid_provider_login' || code === 'wrong_password' || code === 'invalid_second_factor_code',
    refusal: 'Too many failed logins at providers from your IP address; wait before the next one.',
  },
  export: {
    limitOf: (env) => env.rateLimitExport,
    keyOf: (request) => keyOfPrincipal('export', request),
    refusal: 'Too many exports of your data; wait before the next one.',
  },
  writes: {
    limitOf: (env) => env.rateLimitWrites,
    keyOf: (request) => keyOfPrincipal('writes', request),
    // It bounds work, and a change that ended in a fault has cost work, too.
    counts: () => true,
    refusal: PROBLEMS.rate_limited.detail,
  },
} satisfies Record<string, RateLimitRule>;

export type RateLimitName = keyof typeof RULES;

const ruleOf = (name: RateLimitName): RateLimitRule => RULES[name];

export function countersOf(
  env: Env,
  names: readonly RateLimitName[],
  request: FastifyRequest,
): NamedCounter[] {
  return names.flatMap((name) => {
    const { limitOf, keyOf, isLifted } = ruleOf(name);
    const limit = limitOf(env);
    const key = limit && keyOf(request);
    const email = isLifted && emailIn(request);
    return limit && key ? { ...limit, name, key, ...(email && { liftKey: emailKey(email) }) } : [];
  });
}

export function isCounted({ name }: NamedCounter, status: number, code: ProblemCode | undefined): boolean {
  const { counts } = ruleOf(name);
  return counts ? counts(code) : status < 500;
}

export const refusalOf = (name: RateLimitName): string => RULES[name].refusal;

const accountKey = (email: string): string => rateLimitKey('account', email);

const addressKey = (name: string, address: string, email: string): string =>
  rateLimitKey(name, clientKey(address), email);

function keyOfEmail(name: string, request: FastifyRequest): string | undefined {
  const email = emailIn(request);
  return email && addressKey(name, clientAddress(request), email);
}

/** The limits of logins with an email whose keys are known without a request: of the email, and of one IP address. */
export function loginCounters(env: Env, email: string, address: string | null): NamedCounter[] {
  const { rateLimitFailedLogins: account, rateLimitLogin: login } = env;
  const liftKey = emailKey(email);
  return [
    ...(account ? [{ ...account, name: 'account' as const, key: accountKey(email), liftKey }] : []),
    ...(login && address !== null
      ? [{ ...login, name: 'login' as const, key: addressKey('login', address, email), liftKey }]
      : []),
  ];
}

function keyOfPrincipal(name: string, { principal }: FastifyRequest): string | undefined {
  return principal && rateLimitKey(name, limitKey(principal));
}

function namesAccount(request: FastifyRequest): boolean {
  const { body } = request;
  if (emailIn(request) !== undefined) return true;
  return typeof body === 'object' && body !== null && 'challenge' in body;
}

/** Returns the user's own email, else the normalized email in the body; validation refuses requests without it. */
export function emailIn({ body, principal }: FastifyRequest): string | undefined {
  if (principal?.kind === 'user') return principal.email;
  return normalizedEmail(
    typeof body === 'object' && body !== null && 'email' in body ? body.email : undefined,
  );
}
