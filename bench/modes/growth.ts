import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import { type GrowthReport, growthMarkdown } from '../report/growth-report.ts';
import { surroundings } from '../report/surroundings.ts';
import type { Written } from '../report/written.ts';
import { startLoadDriver } from '../servers/load-driver.ts';
import { describeMariaDb, startMariaDb } from '../servers/mariadb.ts';
import { growthOfMembers } from './growth-members.ts';
import { growthOfUsers } from './growth-users.ts';

/** Holds all rows of the largest database in memory. */
const BUFFER_POOL_MIB = 2048;

/** The service on databases of several sizes, then with organizations of several sizes. */
export async function growth(
  options: Options,
  { crowds, orgSizes }: { crowds: number[]; orgSizes: number[] },
  directory: string,
): Promise<Written> {
  const { plan, quick } = options;
  progress('starting the database');
  const mariadb = await startMariaDb(directory, BUFFER_POOL_MIB);
  const driver = startLoadDriver();
  const users = await growthOfUsers(options, crowds, mariadb, driver, directory);
  const { contest: members, lists } = await growthOfMembers(options, orgSizes, mariadb, driver, directory);
  const report: GrowthReport = {
    ...surroundings({
      database: await describeMariaDb(mariadb),
      hashEngine: users.hashEngine,
      quick,
      crowd: 0,
      foreignLoad: greater(users.foreignLoad, members.foreignLoad),
    }),
    bufferPoolMib: BUFFER_POOL_MIB,
    connections: plan.connections,
    rounds: users.rounds,
    phaseMs: plan.phaseMs,
    users: users.operations,
    members: members.operations,
    lists,
  };
  return { name: 'growth', report, markdown: growthMarkdown(report) };
}

function greater(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}
