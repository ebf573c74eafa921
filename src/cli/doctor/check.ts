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
const BATCH = 5000;

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

/**
 * For a rule that SQL cannot express.
 * @param sql selects rows of users by a column `id`, from a value on
 * @param ruleFrom is called if there is a row
 */
export function everyRow<Row extends { id: string }>(
  claim: string,
  remedy: string,
  sql: string,
  ruleFrom: (env: Env) => (row: Row) => boolean,
): Check {
  return {
    claim,
    remedy,
    findFaults: async ({ runner, env }) => {
      const faults: string[] = [];
      let isSound: ((row: Row) => boolean) | undefined;
      for (let after = ''; faults.length < EXAMPLES;) {
        const rows = (await runner.query(`${sql} LIMIT ${BATCH}`, [after])) as Row[];
        if (rows.length === 0) break;
        isSound ??= ruleFrom(env);
        for (const row of rows) if (!isSound(row)) faults.push(`user ${row.id}`);
        after = rows.at(-1)!.id;
      }
      return faults.slice(0, EXAMPLES);
    },
  };
}
