import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Hunt } from './hunt.ts';
import { mutantsOf } from './mutations.ts';
import { type Options, readOptions } from './options.ts';
import { diff, Report } from './report.ts';
import { testFilesFor } from './test-files.ts';
import { killTestRuns } from './test-run.ts';
import { Workspace } from './workspace.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

const workspaces: Workspace[] = [];

async function main(options: Options): Promise<void> {
  const source = readFileSync(join(PROJECT, options.file), 'utf8');
  const { from, to } = options.lines;
  const queue = mutantsOf(options.file, source).filter(({ line }) => line >= from && line <= to);
  if (options.list) return queue.forEach((mutant) => process.stdout.write(diff(options.file, mutant)));

  const files = testFilesFor(PROJECT, options);
  console.log(`${queue.length} mistakes; ${files.length} test files: ${files.join(', ')}`);
  const hunt = new Hunt(options, source, files);
  const first = Workspace.of(PROJECT, options.file);
  workspaces.push(first);
  const tookMs = await hunt.rehearse(first);
  console.log(`without a mistake they take ${Math.round(tookMs / 1000)} s`);

  const report = new Report(options.file, queue.length);
  while (workspaces.length < options.jobs) workspaces.push(first.copy());
  const work = async (workspace: Workspace): Promise<void> => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      report.add(mutant, await hunt.try(mutant, workspace));
    }
  };
  await Promise.all(workspaces.map(work));
  report.end();
}

process.once('exit', () => {
  killTestRuns();
  for (const workspace of workspaces) workspace.remove();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
