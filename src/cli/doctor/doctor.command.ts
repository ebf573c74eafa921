import { SCHEMA } from '../../app/schema.js';
import { loadEnv } from '../../config/load-env.js';
import type { Report } from '../command.js';
import { inspect, textOf } from './inspect.js';

export async function doctor(): Promise<Report> {
  const findings = await inspect(loadEnv(), SCHEMA);
  return {
    lines: findings.map(textOf),
    json: findings.map(({ check: { claim, remedy }, faults }) =>
      faults.length === 0 ? { claim, holds: true } : { claim, holds: false, faults, remedy },
    ),
    isRed: findings.some(({ faults }) => faults.length > 0),
  };
}
