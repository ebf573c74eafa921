import { callHook } from './hooks.ts';
import { isMistake, isProblem, messageOf, type ServiceProblem, type Reasons } from './reasons.ts';
import type { TokenRejection } from './tokens.ts';

/** One line for the same cause is enough. */
const REPEATED_AFTER_MS = 60_000;
/** Causes are few; more of them than these would be a mistake that must not fill the memory. */
const CAUSES = 1_000;

/** Takes lines for the log of the service; `console` is one. */
export interface GuardLog {
  warn(message: string): void;
}

/** Names why requests are refused, each cause at most once a minute. */
export class RefusalLog {
  private readonly lastAt = new Map<string, number>();
  private readonly log: GuardLog;
  private readonly reasons: Reasons;

  constructor(log: GuardLog, reasons: Reasons) {
    this.log = log;
    this.reasons = reasons;
  }

  /** A failure of the feed, which refuses no request yet. */
  noteProblem(problem: ServiceProblem): void {
    if (isMistake(problem)) this.noteUnavailable(problem);
  }

  noteUnavailable(cause: unknown): void {
    const key = isProblem(cause) ? `${cause.code} ${cause.requiredScope ?? ''}` : messageOf(cause);
    this.write(key, `requests are answered 503: ${this.reasons.of(cause)}`);
  }

  /** Tokens that Accounts has signed, and that are for another guard than this one. */
  noteRejection({ claim, message }: TokenRejection): void {
    if (claim !== undefined) this.write(claim, `tokens of Accounts are answered 401: ${message}`);
  }

  noteHook(name: string, error: unknown): void {
    this.write(name, `${name} failed: ${String(error)}`);
  }

  private write(key: string, line: string): void {
    const now = performance.now();
    if (now - (this.lastAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPEATED_AFTER_MS) return;
    if (this.lastAt.size >= CAUSES) this.lastAt.clear();
    this.lastAt.set(key, now);
    // A log that fails has nowhere to say so.
    void callHook(
      () => this.log.warn(`accounts-client: ${line}`),
      () => undefined,
    );
  }
}
