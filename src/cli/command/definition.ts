import { userInfo } from 'node:os';
import type { OperatorActor } from '../../access/principal.js';
import { parseTimeOrAge } from '../../config/readers.js';

export interface Report {
  lines: string[];
  /** one line each with `--json` */
  json: object[];
  isRed?: boolean;
}

export interface Invocation {
  parameters: string[];
  options: Record<string, string | boolean | undefined>;
  /** Writes a line at once, if a report might not fit into memory. */
  print: (text: string, json: object) => Promise<void>;
}

type Option = [flags: string, meaning: string];

export interface CommandDefinition {
  /** such as `disable <USER>` */
  usage: string;
  summary: string;
  details?: string;
  options?: Option[];
  /** adds `--as` and `--reason` */
  changes?: boolean | 'with a reason';
  examples: string[];
  run: (invocation: Invocation) => Promise<Report>;
  commands?: CommandDefinition[];
}

export interface CommandGroup {
  name: string;
  summary: string;
  commands: CommandDefinition[];
}

export const LIST_LIMIT: Option = ['--limit <NUMBER>', 'at most this many (default: all)'];

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;
const MAX_NAME_LENGTH = 100;
const MAX_REASON_LENGTH = 500;
const CONTROL_CHARACTERS = /\p{Cc}/u;

/** Nothing was done. */
export class CannotRunError extends Error {}

type Options = Pick<Invocation, 'options'>;

export function textOption({ options }: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws CannotRunError */
export function choiceOption<T extends string>(
  invocation: Options,
  name: string,
  known: readonly T[],
): T | undefined {
  const text = textOption(invocation, name);
  const value = known.find((one) => one === text);
  if (text === undefined || value !== undefined) return value;
  throw new CannotRunError(`--${name}: expected one of ${known.join(', ')}`);
}

/** @throws CannotRunError */
export function timeOption(invocation: Options, name: string): number | undefined {
  const text = textOption(invocation, name);
  const time = text === undefined ? undefined : parseTimeOrAge(text, Date.now());
  if (text === undefined || time !== undefined) return time;
  throw new CannotRunError(
    `--${name}: expected a time such as 2026-11-22 or 2026-11-22T09:30Z, or an age such as 24h`,
  );
}

/** @throws CannotRunError */
export function limitOption(invocation: Options): number {
  return optionalLimit(invocation, MAX_LIMIT) ?? DEFAULT_LIMIT;
}

/** @throws CannotRunError */
export function optionalLimit(invocation: Options, max?: number): number | undefined {
  const text = textOption(invocation, 'limit');
  if (text === undefined) return undefined;
  const limit = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= 1 && limit <= (max ?? Number.MAX_SAFE_INTEGER)) return limit;
  throw new CannotRunError(`--limit: expected a whole number from 1${max === undefined ? '' : ` to ${max}`}`);
}

/** @throws CannotRunError */
export function operatorOf(invocation: Options): OperatorActor {
  const id = checked('--as', textOption(invocation, 'as')?.trim() ?? systemUser(), MAX_NAME_LENGTH);
  const reason = textOption(invocation, 'reason');
  if (reason === undefined) return { kind: 'operator', id };
  return { kind: 'operator', id, reason: checked('--reason', reason.trim(), MAX_REASON_LENGTH) };
}

function checked(flag: string, text: string, maxLength: number): string {
  if (text === '' || text.length > maxLength || CONTROL_CHARACTERS.test(text)) {
    throw new CannotRunError(`${flag}: expected 1 to ${maxLength} characters on one line`);
  }
  return text;
}

/** The user of a container may have no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.geteuid?.() ?? 'unknown'}`;
  }
}
