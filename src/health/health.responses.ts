import { ApiProperty } from '@nestjs/swagger';

// Listed, since the compiler orders the values of a type as it meets them, and so by the imports of any other file.
export const STATES = ['ok', 'degraded'] as const;
export type State = (typeof STATES)[number];

export class Liveness {
  /** @example "ok" */
  status: 'ok';
}

export class Readiness {
  @ApiProperty({ enum: STATES, example: 'ok' }) status: State;

  /**
   * Value `full` if a change failed within the last minute because the disk was full, `read_only` within the last 20
   * seconds because the database was read-only. Reads still work.
   * @example "ok"
   */
  database: 'ok' | 'full' | 'read_only';

  /** @example "ok" */
  migrations: 'ok';

  /**
   * Value `degraded` while this instance counts requests by itself: Redis is unreachable, or several instances have run
   * without Redis for more than two minutes.
   */
  @ApiProperty({ enum: STATES, example: 'ok' }) rateLimits: State;

  /** Value `degraded` while an email has been waiting for more than 10 minutes. */
  @ApiProperty({ enum: STATES, example: 'ok' }) mail: State;

  /** Value `degraded` if the latest check of a password against the list of breached passwords failed. */
  @ApiProperty({ enum: STATES, example: 'ok' }) breachCheck: State;

  /** Value `degraded` if running instances have had different signing keys for more than two minutes. */
  @ApiProperty({ enum: STATES, example: 'ok' }) keys: State;

  /** Value `degraded` if the clock of this instance differs from the clock of the database by more than 2 seconds. */
  @ApiProperty({ enum: STATES, example: 'ok' }) clock: State;
}
