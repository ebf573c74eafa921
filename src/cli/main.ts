import { nodeProblem } from '../app/node-version.js';

/** Each command resolves to its exit code; 2: it could not be run. */
const COMMANDS: Record<string, () => Promise<() => Promise<number>>> = {
  doctor: async () => (await import('./doctor/doctor.command.js')).doctor,
};

const [name = ''] = process.argv.slice(2);
const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
const problem = load ? nodeProblem(`npm run ${name}`) : `usage: accounts ${Object.keys(COMMANDS).join('|')}`;
if (!load || problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

const { explainFailure } = await import('../app/start-failure.js');
try {
  const run = await load();
  process.exit(await run());
} catch (error) {
  for (const line of explainFailure(error)) console.error(line);
  process.exit(2);
}
