import { performance } from 'node:perf_hooks';
import type { Fixture } from '../fixture/fixture.ts';
import type { DrivableName } from '../load/call.ts';
import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import { type ContestSummary, summarizeContest } from '../report/contest-summary.ts';
import { usedHashEngine } from '../report/used-hash-engine.ts';
import { processIds, runRounds } from '../rounds.ts';
import type { Contenders } from '../servers/contenders.ts';
import { watchForeignLoad } from '../servers/foreign-load.ts';
import type { LoadDriver } from '../servers/load-driver.ts';

export interface Contest {
  operations: ContestSummary[];
  rounds: number;
  hashEngine: string;
  foreignLoad: number | undefined;
}

export async function runContest<Name extends string>(
  { plan }: Options,
  operations: readonly DrivableName[],
  contenders: Contenders<Name>,
  fixtureOf: (name: Name) => Fixture,
  driver: LoadDriver,
): Promise<Contest> {
  const { names, servers } = contenders;
  progress('logging in');
  for (const name of names) await driver.open(name, servers[name].url, fixtureOf(name));

  const foreignLoad = watchForeignLoad(processIds(contenders, driver));
  const until = performance.now() + plan.roundsBudgetMs;
  const results = await runRounds({ operations, plan, until }, contenders, driver);
  return {
    operations: [...results].map(([operation, samples]) => summarizeContest(operation, names, samples)),
    rounds: Math.max(...[...results.values()].map((samples) => samples[names[0]!].length)),
    hashEngine: usedHashEngine(contenders),
    foreignLoad: foreignLoad(),
  };
}
