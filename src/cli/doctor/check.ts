import type { DataSource, QueryRunner } from 'typeorm';
import type { Env } from '../../config/env.js';

export interface Inspection {
  env: Env;
  dataSource: DataSource;
  /** a read-only transaction, so that every check sees the same state */
  runner: QueryRunner;
}

export interface Check {
  claim: string;
  remedy: string;
  /** Returns examples that contradict the claim, none if it holds. */
  findFaults(inspection: Inspection): Promise<string[]>;
}

export const EXAMPLES = 5;

/** The claim holds if the query, which selects a column `fault`, finds no row. */
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
