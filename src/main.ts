import module from 'node:module';
import { join } from 'node:path';
import { nodeProblem } from './app/node-version.js';

const problem = nodeProblem('npm start');
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

// Not Node's default below /tmp, where others could leave code. Without write access, nothing is kept.
module.enableCompileCache(join(import.meta.dirname, '../cache'));

const { bootstrap } = await import('./app/bootstrap.js');
await bootstrap().catch(async (error: unknown) => {
  const { explainFailure } = await import('./app/start-failure.js');
  for (const line of explainFailure(error)) console.error(line);
  process.exit(1);
});
