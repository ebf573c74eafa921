import type { DataSource, QueryRunner } from 'typeorm';
import type { Env } from '../../config/env.js';

export interface Inspection {
  env: Env;
  dataSource: DataSource;
  /** one read-only transaction: every check sees the same state */
  runner: QueryRunner;
}

export interface Check {
  claim: string;
  remedy: string;
  /** examples of what contradicts the claim; empty when it holds */
  findFaults(inspection: Inspection): Promise<string[]>;
}

/** the most examples that one check shows */
export const EXAMPLES = 5;

/** The claim holds when the query, which selects a column `fault`, finds no row. */
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
