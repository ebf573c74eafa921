import { Budget } from './budget.ts';
import type { Answered, Failed } from './send-request.ts';
import { aborted, notLoggedIn, timedOut } from './problems.ts';
import { isRefused, isRefusedInTime, mayHaveSucceeded, LONGEST_WAIT_MS } from './retries.ts';
import { pause } from './waiting.ts';

/** Bounds the work in the background. The next call that needs a token begins another refresh. */
const REPEATED_FOR_MS = 15_000;
const REPEATED_AFTER_MS = 250;
const ATTEMPT_TIMEOUT_MS = 10_000;

/** How long a caller waits: within the budget, and until more attempts than `retries` have failed. */
export interface RefreshWait {
  budget: Budget;
  retries: number;
}

export type SendRefresh = (refreshToken: string, budget: Budget) => Promise<Answered | Failed>;

interface Failure {
  answer: Failed;
  /** Milliseconds of `performance.now()`, which no change of the clock moves. */
  nextAttemptAt: number;
}

/** One refresh for all callers that need a newer token. It continues in the background after they stop waiting. */
export class SharedRefresh {
  private readonly waiting = new Set<(failure: Failure) => void>();
  private readonly stopped = new AbortController();
  private latest: Failure | undefined;

  /** Call it when the login is removed or replaced, so that the response is useless. */
  stop(): void {
    this.stopped.abort();
  }

  /** The budget of one request. */
  newBudget(): Budget {
    return new Budget(ATTEMPT_TIMEOUT_MS, this.stopped.signal);
  }

  /** @param attemptOnce reads the token, sends it and saves its successor. No lock is held between two attempts. */
  async repeat(attemptOnce: () => Promise<Answered | Failed>): Promise<Answered | Failed> {
    const { signal } = this.stopped;
    const begunAt = performance.now();
    let wasSent = false;
    for (let attempt = 0; ; attempt += 1) {
      const attemptedAt = performance.now();
      const answer = await attemptOnce();
      if (!answer.ok && signal.aborted) return { ok: false, problem: notLoggedIn };
      if (answer.ok || !mayHaveSucceeded(answer.problem)) return answer;
      wasSent ||= !isRefused(answer.problem);
      const { retryAfter = 0 } = answer.problem;
      const waitMs = Math.max(REPEATED_AFTER_MS * 2 ** attempt, retryAfter * 1000);
      const now = performance.now();
      const spentMs = now - begunAt;
      if (wasSent && spentMs + waitMs > REPEATED_FOR_MS) return answer;
      if (!wasSent && (attempt > 0 || !isRefusedInTime(spentMs, now - attemptedAt, waitMs))) return answer;
      this.latest = { answer, nextAttemptAt: now + waitMs };
      for (const notify of this.waiting) notify(this.latest);
      if (!wasSent && this.waiting.size === 0) return answer;
      if (!(await pause(waitMs, signal))) return { ok: false, problem: notLoggedIn };
    }
  }

  /** @param end settles when the refresh has ended */
  waitFor(end: Promise<Answered | Failed>, { budget, retries }: RefreshWait): Promise<Answered | Failed> {
    const { signal } = budget;
    return new Promise((answered) => {
      let failures = 0;
      const finish = (answer: Answered | Failed): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.waiting.delete(onFailure);
        answered(answer);
      };
      const onAbort = (): void => finish({ ok: false, problem: aborted });
      const onFailure = (failure: Failure): void => {
        failures += 1;
        if (failures > retries || isTooLate(failure, budget)) finish(failure.answer);
      };
      const onTimeout = (): void =>
        finish(this.latest?.answer ?? { ok: false, problem: timedOut(budget.timeoutMs) });
      const timer = setTimeout(onTimeout, budget.leftMs);
      this.waiting.add(onFailure);
      signal?.addEventListener('abort', onAbort);
      void end.then(finish);
      if (signal?.aborted) onAbort();
      else if (this.latest && isTooLate(this.latest, budget)) finish(this.latest.answer);
    });
  }
}

function isTooLate({ nextAttemptAt }: Failure, budget: Budget): boolean {
  return nextAttemptAt - performance.now() > Math.min(LONGEST_WAIT_MS, budget.leftMs);
}
