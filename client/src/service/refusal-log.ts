import { callHook } from '../hooks.ts';
import { isMistake, isProblem, messageOf, type ServiceProblem, type Reasons } from './reasons.ts';
import type { TokenRejection } from './tokens.ts';

/** How often one cause is logged. */
const REPEATED_AFTER_MS = 60_000;
/** There are few causes. The limit protects the memory from a mistake of ours. */
const CAUSES = 1_000;

/** Receives lines for the log of the service, such as `console`. */
export interface GuardLog {
  warn(message: string): void;
}

/** Logs why the guard rejects requests, each cause at most once a minute. */
export class RefusalLog {
  private readonly lastAt = new Map<string, number>();
  private readonly log: GuardLog;
  private readonly reasons: Reasons;

  constructor(log: GuardLog, reasons: Reasons) {
    this.log = log;
    this.reasons = reasons;
  }

  /** Logs a failure of the feed, before the guard has to reject requests. */
  noteProblem(problem: ServiceProblem): void {
    if (isMistake(problem)) this.noteUnavailable(problem);
  }

  noteUnavailable(cause: unknown): void {
    const key = isProblem(cause) ? `${cause.code} ${cause.requiredScope ?? ''}` : messageOf(cause);
    this.write(key, `requests are answered 503: ${this.reasons.of(cause)}`);
  }

  /** Logs tokens that Accounts signed for another guard. */
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
    // There is no other place to report a log that fails.
    void callHook(
      () => this.log.warn(`accounts-client: ${line}`),
      () => undefined,
    );
  }
}
