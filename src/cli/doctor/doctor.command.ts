import { SCHEMA } from '../../app/schema.js';
import { loadEnv } from '../../config/load-env.js';
import { inspect, textOf } from './inspect.js';

/** Exit code 0 when all claims hold, else 1. */
export async function doctor(): Promise<number> {
  const findings = await inspect(loadEnv(), SCHEMA);
  for (const finding of findings) console.log(textOf(finding));
  return findings.every(({ faults }) => faults.length === 0) ? 0 : 1;
}
