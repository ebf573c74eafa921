import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Options, readOptions, USAGE } from './options.ts';
import { prepare, type Stage } from './prepare.ts';
import { toMarkdown } from './report/markdown.ts';
import { createReport, type Report } from './report/report.ts';
import { processIds, runFloods, runRounds } from './rounds.ts';
import { SIDES } from './servers/contenders.ts';
import { diskDirectory } from './servers/disk-directory.ts';
import { watchForeignLoad } from './servers/foreign-load.ts';
import { type LoadDriver, startLoadDriver } from './servers/load-driver.ts';

function progress(text: string): void {
  process.stderr.write(`${(process.uptime() | 0).toString().padStart(4)} s  ${text}\n`);
}

async function measure(options: Options, stage: Stage, driver: LoadDriver): Promise<Report> {
  progress('logging in');
  for (const side of SIDES) await driver.open(side, stage.servers[side].url, stage.fixture);
  const foreignLoad = watchForeignLoad(processIds(stage, driver));
  const results = await runRounds(options, stage, driver, progress);
  const floods = await runFloods(options.plan, driver, progress);
  return createReport(options, stage, results, floods, foreignLoad());
}

function write({ engine, outDirectory }: Options, report: Report): void {
  mkdirSync(outDirectory, { recursive: true });
  const file = join(outDirectory, report.selfTest ? `${engine}-self` : engine);
  const markdown = toMarkdown(report);
  writeFileSync(`${file}.md`, markdown);
  writeFileSync(`${file}.json`, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`${markdown}\nWritten to ${file}.md and .json\n`);
}

async function main(options: Options): Promise<void> {
  const directory = diskDirectory();
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

  progress(`starting the database (${options.engine}), the service and the baseline`);
  const stage = await prepare(options, directory);
  write(options, await measure(options, stage, startLoadDriver()));
}

try {
  if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
  else await main(readOptions(process.argv.slice(2)));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
