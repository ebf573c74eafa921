import { type Env, loadEnv } from '../../config/env.js';
import { withDatabase } from '../command/database.js';
import { ACCOUNT_CHECKS, EMAIL_CHECK, HASH_CHECK } from './account-checks.js';
import type { Check, Inspection } from './check.js';
import { AUDIT_LOG_CHECKS } from './audit-log-checks.js';
import { INSTANCE_CHECKS } from './instance-checks.js';
import { INDEX_CHECK, SCHEMA_CHECKS, SERVER_CHECKS } from './schema-checks.js';
import type { Invocation, Report } from '../command/definition.js';

export interface Finding {
  check: Check;
  faults: string[];
}

const CHECKS = [
  ...SERVER_CHECKS,
  ...SCHEMA_CHECKS,
  ...INSTANCE_CHECKS,
  ...ACCOUNT_CHECKS,
  ...AUDIT_LOG_CHECKS,
  EMAIL_CHECK,
  HASH_CHECK,
  INDEX_CHECK,
];

const SNAPSHOT = {
  sqlite: ['BEGIN'],
  mysql: [
    'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
  ],
};

export function inspect(
  env: Env,
  checks = CHECKS,
  onCheck: (check: Check) => void = () => undefined,
): Promise<Finding[]> {
  return withDatabase(env, 'inspection', async (dataSource) => {
    const runner = dataSource.createQueryRunner();
    try {
      for (const statement of SNAPSHOT[env.database.engine]) await runner.query(statement);
      const findings: Finding[] = [];
      for (const check of checks) {
        onCheck(check);
        findings.push({ check, faults: await faultsOf(check, { env, dataSource, runner }) });
      }
      return findings;
    } finally {
      await runner.release();
    }
  });
}

async function faultsOf(check: Check, inspection: Inspection): Promise<string[]> {
  try {
    return await check.findFaults(inspection);
  } catch (error) {
    return [`could not be checked: ${error instanceof Error ? error.message : String(error)}`];
  }
}

export async function doctor(invocation: Invocation): Promise<Report> {
  const findings = await inspect(loadEnv(), CHECKS, ({ claim }) => invocation.showProgress(claim));
  return {
    lines: findings.map(textOf),
    json: findings.map(({ check: { claim, remedy, isWarning }, faults }) =>
      faults.length === 0
        ? { claim, holds: true }
        : { claim, holds: false, faults, remedy, ...(isWarning && { warning: true }) },
    ),
    isRed: findings.some(({ check, faults }) => faults.length > 0 && !check.isWarning),
  };
}

function textOf({ check, faults }: Finding): string {
  if (faults.length === 0) return `green  ${check.claim}`;
  return [
    `${check.isWarning ? 'yellow' : 'RED   '} ${check.claim}`,
    ...faults.map((fault) => `         ${fault}`),
    `       ${check.remedy}`,
  ].join('\n');
}
