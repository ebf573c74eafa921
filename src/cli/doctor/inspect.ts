import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Env } from '../../config/env.js';
import { createDataSource } from '../../database/create-data-source.js';
import { dataSourceOptions } from '../../database/data-source-options.js';
import { databaseError } from '../../database/database-errors.js';
import type { Schema } from '../../database/schema.js';
import { type Check, type Inspection } from './check.js';
import { DATA_CHECKS } from './data-checks.js';
import { EMAIL_CHECK } from './email-check.js';
import { INDEX_CHECK } from './index-check.js';
import { RECORD_CHECKS } from './record-checks.js';
import { SCHEMA_CHECKS } from './schema-checks.js';
import { SESSION_CHECKS } from './session-checks.js';

export interface Finding {
  check: Check;
  faults: string[];
}

const OPEN_TIMEOUT_MS = 10_000;

const CHECKS = [
  ...SCHEMA_CHECKS,
  ...DATA_CHECKS,
  ...SESSION_CHECKS,
  ...RECORD_CHECKS,
  EMAIL_CHECK,
  INDEX_CHECK,
];

/** Begins a transaction in which every read sees the same state. */
const SNAPSHOT = {
  sqlite: ['BEGIN'],
  mysql: [
    'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
  ],
};

/** Only reads, on connections of its own. */
export async function inspect(env: Env, schema: Schema, checks = CHECKS): Promise<Finding[]> {
  const dataSource = await open(env, schema);
  const runner = dataSource.createQueryRunner();
  try {
    for (const statement of SNAPSHOT[env.database.engine]) await runner.query(statement);
    return await findAll({ env, dataSource, runner }, checks);
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
}

/** Unlike the service, a command does not wait for its database. */
async function open(env: Env, schema: Schema): Promise<DataSource> {
  const opening = dataSourceOptions(env, schema, 'inspection').then((options) =>
    createDataSource(options).initialize(),
  );
  const late = sleep(OPEN_TIMEOUT_MS, undefined, { ref: false }).then(() => undefined);
  const dataSource = await Promise.race([opening, late]);
  if (!dataSource) throw databaseError('ETIMEDOUT', 'no answer');
  return dataSource;
}

async function findAll(inspection: Inspection, checks: Check[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) findings.push({ check, faults: await faultsOf(check, inspection) });
  return findings;
}

/** A check that fails to run is a fault, for example where a table is missing. */
async function faultsOf(check: Check, inspection: Inspection): Promise<string[]> {
  try {
    return await check.findFaults(inspection);
  } catch (error) {
    return [`could not be checked: ${error instanceof Error ? error.message : String(error)}`];
  }
}

export function textOf({ check, faults }: Finding): string {
  if (faults.length === 0) return `green  ${check.claim}`;
  return [
    `RED    ${check.claim}`,
    ...faults.map((fault) => `         ${fault}`),
    `       ${check.remedy}`,
  ].join('\n');
}
