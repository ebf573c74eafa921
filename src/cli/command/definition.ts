import { userInfo } from 'node:os';
import type { Writable } from 'node:stream';
import type { OperatorActor } from '../../access/principal.js';
import { parseTimeOrAge } from '../../config/readers.js';

export interface Report {
  lines: string[];
  json: object[];
  isRed?: boolean;
}

export interface Outcome {
  text: string;
  lines?: string[];
  json: object;
}

export function reportOn(label: string, names: object, { text, lines = [], json }: Outcome): Report {
  return { lines: [`${label}: ${text}`, ...lines], json: [{ ...names, ...json }] };
}

export function outcomeOf(
  { kind }: { kind: 'done' | 'unchanged' | 'gone' },
  done: string,
  unchanged: string,
): Outcome {
  const texts = { done, unchanged, gone: 'was already deleted' };
  return { text: texts[kind], json: { changed: kind === 'done' } };
}

export interface Change {
  actor: OperatorActor;
  force: boolean;
}

type Option = [flags: string, meaning: string];

export interface CommandDefinition {
  usage: string;
  summary: string;
  details?: string;
  options?: Option[];
  changes?: boolean;
  /** @throws CannotRunError before the command asks for a reason */
  requireArguments?: (invocation: Invocation) => void;
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

export class CannotRunError extends Error {}

/** The database lacks what a copy of its audit log has. */
export class RestoredDatabaseError extends Error {}

const CLEARED_LINE = '\r\u001b[K';

export class Invocation {
  private showsProgress = false;

  constructor(
    readonly parameters: string[],
    private readonly options: Record<string, string | string[] | boolean | undefined>,
  ) {}

  get asJson(): boolean {
    return this.flag('json');
  }

  flag(name: string): boolean {
    return this.options[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.options[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** The values of an option that can be repeated. */
  texts(name: string): string[] {
    const values = this.options[name];
    return Array.isArray(values) ? values : [];
  }

  read<T>(name: string, read: (text: string) => T | undefined, expected: string): T | undefined {
    const text = this.text(name);
    const value = text === undefined ? undefined : read(text);
    if (text === undefined || value !== undefined) return value;
    throw new CannotRunError(`--${flagOf(name)}: expected ${expected}`);
  }

  choice<T extends string>(name: string, known: readonly T[]): T | undefined {
    return this.read(name, (text) => known.find((one) => one === text), `one of ${known.join(', ')}`);
  }

  time(name: string): number | undefined {
    const expected = 'a time such as 2026-11-22 or 2026-11-22T09:30Z, or an age such as 24h';
    return this.read(name, (text) => parseTimeOrAge(text, Date.now()), expected);
  }

  limit(): number {
    return this.optionalLimit(MAX_LIMIT) ?? DEFAULT_LIMIT;
  }

  optionalLimit(max = Number.MAX_SAFE_INTEGER): number | undefined {
    const range = max === Number.MAX_SAFE_INTEGER ? 'from 1' : `from 1 to ${max}`;
    const read = (text: string): number | undefined => {
      const limit = /^\d{1,15}$/.test(text) ? Number(text) : 0;
      return limit >= 1 && limit <= max ? limit : undefined;
    };
    return this.read('limit', read, `a whole number ${range}`);
  }

  change(): Change {
    return { actor: this.operator(), force: this.flag('force') };
  }

  operator(): OperatorActor {
    const id = checked('--as', this.text('as')?.trim() ?? systemUser(), MAX_NAME_LENGTH);
    const reason = checked('--reason', this.text('reason')?.trim() ?? '', MAX_REASON_LENGTH);
    return { kind: 'operator', id, reason };
  }

  /** Says how far long work is, in one line that changes. A pipe or a file gets nothing. */
  showProgress(text: string): void {
    if (!process.stderr.isTTY) return;
    process.stderr.write(`${CLEARED_LINE}${text} …`);
    this.showsProgress = true;
  }

  endProgress(): void {
    if (this.showsProgress) process.stderr.write(CLEARED_LINE);
    this.showsProgress = false;
  }

  /** Writes a line at once, if a report might not fit into memory. */
  print(text: string, json: object): Promise<void> {
    this.endProgress();
    return write(`${this.asJson ? JSON.stringify(json) : text}\n`);
  }
}

/** The parser of the command line turns `--client-id` into `clientId`. */
export function flagOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function checked(flag: string, text: string, maxLength: number): string {
  if (text === '' || text.length > maxLength || CONTROL_CHARACTERS.test(text)) {
    throw new CannotRunError(`${flag}: expected 1 to ${maxLength} characters on one line`);
  }
  return text;
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.geteuid?.() ?? 'unknown'}`;
  }
}

/** Runs work that these signals abort. Without it, they would end the process at once. */
export async function abortedBy<T>(
  names: readonly NodeJS.Signals[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const name of names) process.once(name, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}

// Resolves when the system has taken the text, so that the process may end and memory holds one text at a time.
export function write(text: string, output: Writable = process.stdout): Promise<void> {
  return new Promise((resolve) => {
    output.write(text, (error) => {
      if (!error) resolve();
    });
  });
}
