import { nodeProblem } from '../app/node-version.js';

const problem = nodeProblem('npm run accounts');
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

const { runAccounts } = await import('./program.js');
process.exit(await runAccounts(process.argv.slice(2)));
