import module from 'node:module';
import { join } from 'node:path';
import { nodeProblem } from '../app/node-version.js';

const problem = nodeProblem('npm run accounts');
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

// As in src/main.ts.
module.enableCompileCache(join(import.meta.dirname, '../../cache'));

const { COMMANDS } = await import('./commands.js');
const { runAccounts } = await import('./command/program.js');
process.exit(await runAccounts(process.argv.slice(2), COMMANDS));
