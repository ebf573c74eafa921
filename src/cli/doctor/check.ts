import type { DataSource, QueryRunner } from 'typeorm';
import type { Env } from '../../config/env.js';

export interface Inspection {
  env: Env;
  dataSource: DataSource;
  /** one read-only transaction: every check sees the same state */
  runner: QueryRunner;
}

export interface Check {
  /** what is true of a healthy database */
  claim: string;
  /** what to do when it is not */
  remedy: string;
  /** a few examples of what contradicts the claim; none when it holds */
  findFaults(inspection: Inspection): Promise<string[]>;
}

/** How many examples of a fault are shown. */
export const EXAMPLES = 5;

/** A claim that holds when a query finds no row; the query selects one column named `fault`. */
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
