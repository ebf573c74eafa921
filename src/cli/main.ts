import { nodeProblem } from '../app/node-version.js';

/** `npm run doctor`: exit code 0 when every claim holds, 1 when one does not, 2 when nothing could be checked. */
const problem = nodeProblem('npm run doctor');
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

const { loadEnv } = await import('../config/load-env.js');
const { inspect, textOf } = await import('./doctor/inspect.js');
const { SCHEMA } = await import('../app/schema.js');
const { explainFailure } = await import('../app/start-failure.js');
try {
  const findings = await inspect(loadEnv(), SCHEMA);
  for (const finding of findings) console.log(textOf(finding));
  process.exit(findings.every(({ faults }) => faults.length === 0) ? 0 : 1);
} catch (error) {
  for (const line of explainFailure(error)) console.error(line);
  process.exit(2);
}
