import { addToList, ENGINES, unlisted, unsent } from './statements.ts';

/** Adds what the last run of tests sent, or prints with --unsent what a whole run did not send. */
for (const engine of ENGINES) {
  const isWhole = process.argv.includes('--unsent');
  const statements = isWhole ? unsent(engine) : unlisted(engine);
  if (!isWhole) addToList(engine, statements);
  for (const statement of statements) console.log(`${engine} ${isWhole ? '-' : '+'} ${statement}`);
}
