import { readCertificates, type Variables, withoutSecrets } from './variables.js';

export interface RateLimit {
  limit: number;
  windowMs: number;
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
]);

export function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^([1-9]\d{0,8})(\w)$/.exec(text) ?? [];
  const seconds = UNIT_SECONDS.get(unit);
  return seconds && Number(amount) * seconds;
}

/** Converts a day (in UTC), a time with its zone, or an age (`30m`, `24h`, `7d`) to epoch milliseconds. */
export function parseTimeOrAge(text: string, now: number): number | undefined {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return now - seconds * 1000;
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function parseRateLimit(text: string): RateLimit | undefined {
  const [, limit, window] = /^([1-9]\d{0,3})\/(\w+)$/.exec(text) ?? [];
  const seconds = window && parseDuration(window);
  return limit && seconds ? { limit: Number(limit), windowMs: seconds * 1000 } : undefined;
}

export type Reader<T> = (variables: Variables) => T;

export interface Format<T> {
  expected: string;
  parse: (text: string) => T | undefined;
}

export const variable =
  <T>(name: string, fallback: string | Reader<string>, { expected, parse }: Format<T>): Reader<T> =>
  (variables) => {
    const standard = typeof fallback === 'string' ? fallback : fallback(variables);
    variables.noteDefault(name, standard);
    const value = parse(variables.get(name) || standard);
    if (value === undefined) variables.expect(name, expected);
    return value as T;
  };

export const optional =
  <T>(name: string, format: Format<T>): Reader<T | undefined> =>
  (variables) =>
    variables.get(name) === '' ? undefined : variable(name, '', format)(variables);

export const limit = (name: string, fallback: string): Reader<RateLimit | undefined> => {
  const read = variable(name, fallback, {
    expected: 'limit/window such as 5/1h, or off',
    parse: (value) => (value === 'off' ? ('off' as const) : parseRateLimit(value)),
  });
  return (variables) => {
    const rule = read(variables);
    return rule === 'off' ? undefined : rule;
  };
};

export const certificates =
  (name: string, condition: string, holds: Reader<boolean>): Reader<string | undefined> =>
  (variables) => {
    if (variables.get(name) === '' || holds(variables)) return optional(name, PEM)(variables);
    variables.problems.push(`${name}: may be set only with ${condition}`);
    return undefined;
  };

const PEM: Format<string> = {
  expected: 'a readable PEM file with certificates',
  parse: readCertificates,
};

export const ON_OR_OFF: Format<boolean> = {
  expected: 'one of on, off',
  parse: (text) => (text === 'on' || text === 'off' ? text === 'on' : undefined),
};

export const TEXT: Format<string> = { expected: 'text', parse: (text) => text || undefined };

export const wholeNumber = (min: number, max: number): Format<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse: (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  },
});

export const duration = (most: string): Format<number> => ({
  expected: `a duration such as 60s, 15m, 24h or 30d, at most ${most}`,
  parse: (text) => {
    const seconds = parseDuration(text);
    return seconds !== undefined && seconds <= parseDuration(most)! ? seconds : undefined;
  },
});

export const oneOf = <const T extends string>(...values: readonly T[]): Format<T> => ({
  expected: `one of ${values.join(', ')}`,
  parse: (text) => values.find((value) => value === text),
});

export const listOf = <T>({ expected, parse }: Format<T>): Format<T[]> => ({
  expected: `a comma-separated list of ${expected}`,
  parse: (text) => {
    const items = text.split(',').map((item) => item.trim());
    const parsed = items.filter((item) => item !== '').map(parse);
    return parsed.every((item) => item !== undefined) ? parsed : undefined;
  },
});

export const url = (...schemes: string[]): Format<string> => ({
  expected: schemes.map((scheme) => `${scheme}://host:port`).join(' or '),
  parse: (text) =>
    schemes.some((scheme) => text.startsWith(`${scheme}://`)) &&
    /^\S+:\/\/\S+$/.test(text) &&
    URL.canParse(text)
      ? text
      : undefined,
});

/** RFC 8414 section 2 allows no query and no fragment. Neither part of the result ends in a slash. */
export function issuerUrl(issuer: string): { base: string; path: string } | undefined {
  if (!/^https?:\/\/[^\s?#\\]+$/.test(issuer) || !URL.canParse(issuer)) return undefined;
  const { username, password, pathname } = new URL(issuer);
  if (username !== '' || password !== '') return undefined;
  return { base: issuer.replace(/\/$/, ''), path: pathname.replace(/\/$/, '') };
}

const MAX_LENGTH = 60;

/** A colon separates the issuer from the account in authenticator apps. */
const LABEL: Format<string> = {
  expected: `text of 1 to ${MAX_LENGTH} characters without a colon`,
  parse: (text) => (/^[^\p{C}:]{1,60}$/u.test(text) ? text : undefined),
};

const fromJwtIssuer: Reader<string> = (variables) => {
  const issuer = withoutSecrets(variables.get('JWT_ISSUER') || 'accounts');
  const name = issuerUrl(issuer) ? new URL(issuer).hostname : issuer.replaceAll(/[\p{C}:]+/gu, ' ');
  return name.slice(0, MAX_LENGTH).trim() || 'accounts';
};

export const mfaIssuer = variable('MFA_ISSUER', fromJwtIssuer, LABEL);
