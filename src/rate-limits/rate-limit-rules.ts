import type { Env, RateLimit } from '../config/env.js';

export const RATE_LIMIT_NAMES = ['register', 'login'] as const;

export type RateLimitName = (typeof RATE_LIMIT_NAMES)[number];

export interface NamedRateLimit extends RateLimit {
  name: RateLimitName;
}

/** undefined where the limit is switched off */
export function rateLimitOf(env: Env, name: RateLimitName): NamedRateLimit | undefined {
  const limits = { register: env.rateLimitRegister, login: env.rateLimitLogin };
  const limit = limits[name];
  return limit && { name, ...limit };
}

/** The limits that are switched on. */
export function rateLimitRules(env: Env): NamedRateLimit[] {
  return RATE_LIMIT_NAMES.flatMap((name) => rateLimitOf(env, name) ?? []);
}
