import type { Env } from '../../config/env.js';
import type { Schema } from '../../database/schema.js';
import { openDatabase } from '../open-database.js';
import { type Check, type Inspection } from './check.js';
import { DATA_CHECKS } from './data-checks.js';
import { DELETION_CHECKS } from './deletion-checks.js';
import { EMAIL_CHECK } from './email-check.js';
import { FEED_CHECKS } from './feed-checks.js';
import { INDEX_CHECK } from './index-check.js';
import { INVITATION_CHECKS } from './invitation-checks.js';
import { OPERATOR_CHECKS } from './operator-checks.js';
import { RECORD_CHECKS } from './record-checks.js';
import { SCHEMA_CHECKS } from './schema-checks.js';
import { SECOND_FACTOR_CHECKS } from './second-factor-checks.js';
import { SERVER_CHECKS } from './server-checks.js';
import { SERVICE_CHECKS } from './service-checks.js';
import { SESSION_CHECKS } from './session-checks.js';

export interface Finding {
  check: Check;
  faults: string[];
}

const CHECKS = [
  ...SERVER_CHECKS,
  ...SCHEMA_CHECKS,
  ...DATA_CHECKS,
  ...DELETION_CHECKS,
  ...SESSION_CHECKS,
  ...SECOND_FACTOR_CHECKS,
  ...OPERATOR_CHECKS,
  ...SERVICE_CHECKS,
  ...INVITATION_CHECKS,
  ...RECORD_CHECKS,
  ...FEED_CHECKS,
  EMAIL_CHECK,
  INDEX_CHECK,
];

const SNAPSHOT = {
  sqlite: ['BEGIN'],
  mysql: [
    'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
  ],
};

/** Only reads, on connections of its own. */
export async function inspect(env: Env, schema: Schema, checks = CHECKS): Promise<Finding[]> {
  const dataSource = await openDatabase(env, schema, 'inspection');
  const runner = dataSource.createQueryRunner();
  try {
    for (const statement of SNAPSHOT[env.database.engine]) await runner.query(statement);
    return await findAll({ env, dataSource, runner }, checks);
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
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
