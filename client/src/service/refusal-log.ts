import type { Delay } from '../operation.ts';
import type { TokenRejection } from './tokens.ts';

/** One line for the same cause is enough. */
const REPEATED_AFTER_MS = 60_000;
/** No request passes until an operator or the author of the service has done something. */
const MISTAKES = new Set(['invalid_client', 'insufficient_scope', 'no_credentials']);

/** Takes lines for the log of the service; `console` is one. */
export interface GuardLog {
  warn(message: string): void;
}

type Problem = Delay & { code: string; detail: string; requiredScope?: string; cause?: unknown };

/** Names why requests are refused, each cause at most once a minute. */
export class RefusalLog {
  private readonly lastAt = new Map<string, number>();
  private readonly log: GuardLog;
  private readonly service: string;
  private readonly accounts: string;

  constructor(log: GuardLog, service: string, baseUrl: string) {
    this.log = log;
    this.service = JSON.stringify(service);
    this.accounts = URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl;
  }

  /** A failure of the feed, which refuses no request yet. */
  noteProblem(problem: Problem): void {
    if (MISTAKES.has(problem.code)) this.noteUnavailable(problem);
  }

  noteUnavailable(cause: unknown): void {
    const key = isProblem(cause) ? `${cause.code} ${cause.requiredScope ?? ''}` : messageOf(cause);
    this.write(key, `requests are answered 503: ${this.reasonOf(cause)}`);
  }

  /** Tokens that Accounts has signed, and that are for another guard than this one. */
  noteRejection({ claim, message }: TokenRejection): void {
    if (claim !== undefined) this.write(claim, `tokens of Accounts are answered 401: ${message}`);
  }

  private write(key: string, line: string): void {
    const now = performance.now();
    if (now - (this.lastAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPEATED_AFTER_MS) return;
    this.lastAt.set(key, now);
    this.log.warn(`accounts-client: ${line}`);
  }

  private reasonOf(cause: unknown): string {
    if (!isProblem(cause)) return messageOf(cause);
    const { code, detail, requiredScope } = cause;
    switch (code) {
      case 'invalid_client':
        return `Accounts rejects the name or the secret of ${this.service} (${code})`;
      case 'insufficient_scope':
        return `${this.service} lacks the scope "${requiredScope ?? ''}", which an operator has to allow (${code})`;
      case 'no_credentials':
        return `the secret of ${this.service} cannot be read: ${messageOf(cause.cause)}`;
      case 'unreachable':
        return `Accounts cannot be reached at ${this.accounts} (${codeOf(cause.cause)})`;
      default:
        return `${detail} (${code}, from ${this.accounts})`;
    }
  }
}

function isProblem(cause: unknown): cause is Problem {
  return typeof cause === 'object' && cause !== null && 'code' in cause && 'detail' in cause;
}

/** `fetch failed` says nothing: the code of its cause does. */
function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return messageOf(cause);
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.cause === undefined ? cause.message : codeOf(cause.cause);
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
