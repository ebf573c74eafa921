import { loadEnv } from './config/load-env.js';
import { type Finding, inspect } from './doctor/inspect.js';
import { SCHEMA } from './schema.js';
import { explainFailure } from './start-failure.js';

/** `npm run doctor`: exit code 0 when every claim holds, 1 when one does not, 2 when nothing could be checked. */
try {
  const findings = await inspect(loadEnv(), SCHEMA);
  for (const finding of findings) console.log(lineOf(finding));
  process.exit(findings.every(({ faults }) => faults.length === 0) ? 0 : 1);
} catch (error) {
  for (const line of explainFailure(error)) console.error(line);
  process.exit(2);
}

function lineOf({ check, faults }: Finding): string {
  if (faults.length === 0) return `green  ${check.claim}`;
  return [
    `RED    ${check.claim}`,
    ...faults.map((fault) => `         ${fault}`),
    `       ${check.remedy}`,
  ].join('\n');
}
