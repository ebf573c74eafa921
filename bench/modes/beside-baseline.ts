import { floodsMs, runFloods } from '../floods.ts';
import type { OperationName } from '../load/call.ts';
import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import { toMarkdown } from '../report/markdown.ts';
import { createReport } from '../report/report.ts';
import type { Written } from '../report/written.ts';
import { processIds, runRounds } from '../rounds.ts';
import { watchForeignLoad } from '../servers/foreign-load.ts';
import { startLoadDriver } from '../servers/load-driver.ts';
import { prepare } from './stage.ts';

const SUFFIXES = { baseline: '', itself: '-self', 'earlier build': '-before' };

export async function besideBaseline(
  options: Options,
  operations: OperationName[],
  directory: string,
): Promise<Written> {
  const { engine, plan } = options;
  progress(`starting the database (${engine}), the service and the baseline`);
  const stage = await prepare(options, operations, directory);
  const driver = startLoadDriver();
  progress('logging in');
  for (const side of stage.names) await driver.open(side, stage.servers[side].url, stage.fixture);

  const foreignLoad = watchForeignLoad(processIds(stage, driver));
  const until = plan.budgetMs - floodsMs(plan);
  const results = await runRounds({ operations, plan, until }, stage, driver);
  const floods = await runFloods(plan, driver);
  const report = createReport(options, stage, results, floods, foreignLoad());
  return { name: `${engine}${SUFFIXES[report.opponent]}`, report, markdown: toMarkdown(report) };
}
