import { readCertificates } from './certificates.js';
import { parseDuration, parseRateLimit, type RateLimit } from './values.js';
import type { Variables } from './variables.js';

/** Reads one setting. A wrong value is noted among the problems of the variables. */
export type Reader<T> = (variables: Variables) => T;

export interface Format<T> {
  expected: string;
  /** returns undefined for text that is not as expected */
  parse: (text: string) => T | undefined;
}

export const variable =
  <T>(name: string, fallback: string | Reader<string>, { expected, parse }: Format<T>): Reader<T> =>
  (variables) => {
    const standard = typeof fallback === 'string' ? fallback : fallback(variables);
    const value = parse(variables.get(name) || standard);
    if (value === undefined) variables.expect(name, expected);
    return value as T;
  };

export const optional =
  <T>(name: string, format: Format<T>): Reader<T | undefined> =>
  (variables) =>
    variables.get(name) === '' ? undefined : variable(name, '', format)(variables);

/** Zero requests cannot be allowed; `off` lifts the limit. */
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

/** Reads a file of certificates, which is refused unless the condition holds. */
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
