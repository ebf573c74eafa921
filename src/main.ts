import { nodeProblem } from './node-version.js';

const problem = nodeProblem('npm start');
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

const { bootstrap } = await import('./bootstrap.js');
const { explainFailure } = await import('./start-failure.js');
await bootstrap().catch((error: unknown) => {
  for (const line of explainFailure(error)) console.error(line);
  process.exit(1);
});
