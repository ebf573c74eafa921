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
  /** The data are sound, but an operator should know. */
  isWarning?: true;
  findFaults(inspection: Inspection): Promise<string[]>;
}

export const EXAMPLES = 5;
const BATCH = 5000;

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

/** @param sql selects `value` of users above an `id`, by `id` */
export async function* valuesOf(
  { runner }: Inspection,
  sql: string,
): AsyncGenerator<{ id: string; value: string }> {
  for (let after = ''; ;) {
    const rows = (await runner.query(`${sql} LIMIT ${BATCH}`, [after])) as { id: string; value: string }[];
    yield* rows;
    if (rows.length === 0) return;
    after = rows.at(-1)!.id;
  }
}

/** For a rule that SQL cannot express. @param sql see `valuesOf` */
export function everyValue(
  claim: string,
  remedy: string,
  sql: string,
  ruleFrom: (env: Env) => (value: string, id: string) => boolean,
  noun = 'user',
): Check {
  return {
    claim,
    remedy,
    findFaults: async (inspection) => {
      const faults: string[] = [];
      let isSound: ReturnType<typeof ruleFrom> | undefined;
      for await (const { id, value } of valuesOf(inspection, sql)) {
        isSound ??= ruleFrom(inspection.env);
        if (!isSound(value, id)) faults.push(`${noun} ${id}`);
        if (faults.length === EXAMPLES) break;
      }
      return faults;
    },
  };
}
