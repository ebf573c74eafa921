export class Liveness {
  /** @example "ok" */
  status: 'ok';
}

export class Readiness {
  /** @example "ok" */
  status: 'ok' | 'degraded';

  /**
   * `full` if a change failed within the last minute because the disk was full; reading still works
   * @example "ok"
   */
  database: 'ok' | 'full';

  /** @example "ok" */
  migrations: 'ok';

  /**
   * `degraded` while Redis is unreachable and this instance counts requests by itself
   * @example "ok"
   */
  rateLimits: 'ok' | 'degraded';

  /**
   * `degraded` while a mail has been waiting for more than 10 minutes
   * @example "ok"
   */
  mail: 'ok' | 'degraded';
}
