export class LiveResponse {
  /** @example "ok" */
  status: string;
}

export class ReadyResponse {
  /**
   * `ok` or `degraded`
   * @example "ok"
   */
  status: string;

  /** @example "ok" */
  database: string;

  /** @example "ok" */
  migrations: string;

  /**
   * `degraded` while Redis is away and this instance limits by itself
   * @example "ok"
   */
  rateLimits: string;
}
