export class LiveResponse {
  /** @example "ok" */
  status: string;
}

export class ReadyResponse {
  /** @example "ok" */
  status: string;

  /** @example "ok" */
  database: string;

  /** @example "ok" */
  migrations: string;
}
