import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { Heartbeat } from '../auth/tokens/heartbeat.js';
import { LoginTraces } from '../auth/logins/login-traces.js';
import { CleanUp } from '../clean-up/clean-up.js';
import { FeedRounds } from '../events/feed-rounds.js';
import { HealthReadings } from '../health/readiness.js';
import { SecondFactorRequirement } from '../orgs/state/second-factor-requirement.js';
import { LiftedLimits } from '../rate-limits/login-limits.js';

interface RepeatedJob {
  of: string;
  failure: string;
  periodMs: number;
  isDue?: () => boolean;
  /** Returns the pause before the next run, if it is not the period. */
  run: (stopping: AbortSignal) => Promise<number | void>;
}

@Injectable()
export class RepeatedWork implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly jobs: RepeatedJob[];
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    feed: FeedRounds,
    revocation: SessionRevocation,
    limits: LiftedLimits,
    requirement: SecondFactorRequirement,
    cleanUp: CleanUp,
    private readonly logins: LoginTraces,
    heartbeat: Heartbeat,
    health: HealthReadings,
  ) {
    this.jobs = [
      {
        of: 'Feed',
        failure: 'cannot number events; retrying',
        periodMs: 200,
        isDue: () => feed.isDue(),
        run: () => feed.numberAll(),
      },
      {
        of: 'Sessions',
        failure: 'interrupted revocations of sessions cannot be completed; retrying',
        periodMs: 500,
        run: (stopping) => revocation.resume(stopping),
      },
      {
        of: 'Orgs',
        failure: 'cannot record required second factors; retrying',
        // The event follows within a second.
        periodMs: 400,
        run: (stopping) => requirement.recordDue(stopping),
      },
      {
        of: 'RateLimits',
        failure: 'lifted limits cannot be applied; retrying',
        periodMs: 2000,
        run: () => limits.apply(),
      },
      {
        of: 'Login',
        failure: 'logins cannot be noted; retrying',
        periodMs: 1000,
        run: () => logins.write(),
      },
      {
        of: 'Instances',
        failure: 'the instances cannot be compared; retrying',
        periodMs: 1000,
        isDue: () => heartbeat.isDue(),
        run: () => heartbeat.run(),
      },
      {
        of: 'Metrics',
        failure: 'users cannot be counted; retrying',
        periodMs: 5000,
        isDue: () => health.isWanted(),
        run: () => health.run(),
      },
      {
        of: 'Cleanup',
        failure: 'clean-up failed and will be retried',
        periodMs: 60_000,
        run: (stopping) => cleanUp.run(stopping),
      },
    ];
  }

  start(): void {
    this.running = Promise.all(this.jobs.map((job) => repeat(job, this.stopping.signal)));
  }

  beforeApplicationShutdown(): void {
    this.stopping.abort();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.running;
    await this.logins.write(Date.now()).catch((err: unknown) => {
      new Logger('Login').warn({ msg: 'the last logins were not noted', err });
    });
  }
}

/** Jitter keeps instances from doing the same work at once. Logs a failure unless the previous run failed as well. */
export async function repeat(job: RepeatedJob, stopping: AbortSignal): Promise<void> {
  const { of, failure, periodMs, isDue = () => true, run } = job;
  const logger = new Logger(of);
  let hasFailed = false;
  for (let pauseMs = periodMs; ;) {
    const jitter = 0.75 + Math.random() / 2;
    await sleep(pauseMs * jitter, undefined, { ref: false, signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return;
    if (!isDue()) continue;
    try {
      pauseMs = (await run(stopping)) ?? periodMs;
      hasFailed = false;
    } catch (err) {
      if (!hasFailed) logger.warn({ msg: failure, err });
      hasFailed = true;
      pauseMs = periodMs;
    }
  }
}
