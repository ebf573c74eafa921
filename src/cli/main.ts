import { nodeProblem } from '../app/node-version.js';

const problem = nodeProblem('npm run accounts');
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

const { COMMANDS } = await import('./commands.js');
const { runAccounts } = await import('./command/program.js');
process.exit(await runAccounts(process.argv.slice(2), COMMANDS));
