import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import { type FeedReport, feedMarkdown } from '../report/feed-report.ts';
import { surroundings } from '../report/surroundings.ts';
import type { Written } from '../report/written.ts';
import { describeMariaDb, startMariaDb } from '../servers/mariadb.ts';
import { feedBacklog } from './feed-backlog.ts';
import { feedLatency } from './feed-latency.ts';
import { feedWrites } from './feed-writes.ts';

const BUFFER_POOL_MIB = 1024;

/** Measures how fast and how soon services hear of changes, and at what cost to those who write. */
export async function feed(options: Options, sizes: number[], directory: string): Promise<Written> {
  const { plan, quick } = options;
  progress('starting the database');
  const mariadb = await startMariaDb(directory, BUFFER_POOL_MIB);
  const backlogs = await feedBacklog(options, sizes, mariadb, directory);
  const latency = await feedLatency(options, quick ? 4000 : 20_000, mariadb, directory);
  const writes = await feedWrites(options, mariadb, directory);
  const { hashEngine, foreignLoad } = writes;
  const report: FeedReport = {
    ...surroundings({ database: await describeMariaDb(mariadb), hashEngine, quick, crowd: 0, foreignLoad }),
    connections: plan.connections,
    rounds: writes.rounds,
    phaseMs: plan.phaseMs,
    backlogs,
    latency,
    writes: writes.operations,
  };
  return { name: 'feed', report, markdown: feedMarkdown(report) };
}
