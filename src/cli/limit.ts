import { CannotRunError } from './cannot-run.error.js';

const DEFAULT_LIMIT = 100;
/** bounds what is held in memory */
const MAX_LIMIT = 10_000;

export function parseLimit(text: string | undefined, max = MAX_LIMIT): number {
  return parseOptionalLimit(text, max) ?? DEFAULT_LIMIT;
}

export function parseOptionalLimit(
  text: string | undefined,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= 1 && limit <= max) return limit;
  const bound = max === Number.MAX_SAFE_INTEGER ? 'from 1' : `from 1 to ${max}`;
  throw new CannotRunError(`--limit: expected a whole number ${bound}`);
}
