import { loadEnv } from '../../config/env.js';
import type { Report } from '../command/definition.js';
import { type Finding, inspect } from './inspect.js';

export async function doctor(): Promise<Report> {
  const findings = await inspect(loadEnv());
  return {
    lines: findings.map(textOf),
    json: findings.map(({ check: { claim, remedy }, faults }) =>
      faults.length === 0 ? { claim, holds: true } : { claim, holds: false, faults, remedy },
    ),
    isRed: findings.some(({ faults }) => faults.length > 0),
  };
}

function textOf({ check, faults }: Finding): string {
  if (faults.length === 0) return `green  ${check.claim}`;
  return [
    `RED    ${check.claim}`,
    ...faults.map((fault) => `         ${fault}`),
    `       ${check.remedy}`,
  ].join('\n');
}
