import { nodeProblem } from './app/node-version.js';

const problem = nodeProblem('npm start');
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

const { bootstrap } = await import('./app/bootstrap.js');
await bootstrap().catch(async (error: unknown) => {
  const { explainFailure } = await import('./app/start-failure.js');
  for (const line of explainFailure(error)) console.error(line);
  process.exit(1);
});
