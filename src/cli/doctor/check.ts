import type { DataSource, QueryRunner } from 'typeorm';
import type { Env } from '../../config/env.js';

export interface Inspection {
  env: Env;
  dataSource: DataSource;
  /** a read-only transaction: every check sees the same state */
  runner: QueryRunner;
}

export interface Check {
  claim: string;
  remedy: string;
  /** @returns examples that contradict the claim */
  findFaults(inspection: Inspection): Promise<string[]>;
}

export const EXAMPLES = 5;

/** @param sql selects a column `fault` */
export function emptyQuery(
  claim: string,
  remedy: string,
  sql: string,
  valuesFrom: (env: Env) => unknown[] = () => [],
): Check {
  return {
    claim,
    remedy,
    findFaults: async ({ runner, env }) => {
      const rows = (await runner.query(`${sql} LIMIT ${EXAMPLES}`, valuesFrom(env))) as { fault: string }[];
      return rows.map((row) => row.fault);
    },
  };
}
