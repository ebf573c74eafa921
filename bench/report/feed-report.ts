import { median } from '../../tooling/median.ts';
import { table } from '../../tooling/markdown-table.ts';
import { FEED } from '../plan.ts';
import type { ContestantSummary, ContestSummary } from './contest-summary.ts';
import { howItWasDriven, remarks, type Surroundings } from './surroundings.ts';
import { digits, grouped, spread, verdict } from './table.ts';
import { FEED_TARGETS } from './targets.ts';

export interface BacklogSummary {
  size: number;
  eventsPerSecond: number[];
}

export interface LatencySummary {
  changes: number;
  p50: number;
  p99: number;
  max: number;
}

export interface FeedReport extends Surroundings {
  connections: number;
  rounds: number;
  phaseMs: number;
  backlogs: BacklogSummary[];
  latency: LatencySummary;
  writes: ContestSummary[];
}

export function feedMarkdown(report: FeedReport): string {
  const { changes, p50, p99, max } = report.latency;
  return [
    '# Benchmark: what services hear',
    '',
    ...howItWasDriven(report, report),
    'rounds; ratios are medians of the ratios of the rounds, with the least and the greatest. Only the ratios mean',
    'anything on another machine.',
    ...remarks(report),
    '',
    `The last ${grouped(FEED.backlog)} events, read by two readers at once:`,
    '',
    ...table(['events in the feed', 'events/s', 'target', 'cost', 'target'], backlogRows(report.backlogs)),
    '',
    `${grouped(changes)} changes, ${FEED.changesPerSecond} a second, while ${FEED.readers} readers wait at another instance. Milliseconds from the`,
    'answer to a change until a reader has its event:',
    '',
    ...table(
      ['p50', 'p99', 'target', 'longest'],
      [
        [
          digits(p50, 0),
          digits(p99, 0),
          verdict(`≤ ${FEED_TARGETS.latencyP99}`, p99 <= FEED_TARGETS.latencyP99),
          digits(max, 0),
        ],
      ],
    ),
    '',
    'Writes beside ten readers of their events, against those that nobody hears of. CPU is that of service and database in',
    'ms per 1,000 writes; the readers share the cores and take their own beside it:',
    '',
    ...table(
      [
        'operation',
        'requests/s, nobody',
        'requests/s, ten',
        'ratio',
        'target',
        'CPU, nobody',
        'CPU, ten',
        'CPU of the ten',
      ],
      report.writes.map(writeRow),
    ),
    '',
  ].join('\n');
}

function backlogRows(backlogs: BacklogSummary[]): string[][] {
  const first = backlogs[0]!.eventsPerSecond;
  return backlogs.map(({ size, eventsPerSecond }) => {
    const speed = median(eventsPerSecond) ?? 0;
    const costs = eventsPerSecond.map((value, round) => first[round]! / value);
    const cost = { median: median(costs), min: Math.min(...costs), max: Math.max(...costs) };
    return [
      grouped(size),
      digits(speed, 0),
      verdict(`≥ ${grouped(FEED_TARGETS.eventsPerSecond)}`, speed >= FEED_TARGETS.eventsPerSecond),
      spread(cost),
      verdict(`≤ ${FEED_TARGETS.backlogCost}`, (cost.median ?? Infinity) <= FEED_TARGETS.backlogCost),
    ];
  });
}

function writeRow({ operation, contestants }: ContestSummary): string[] {
  const [nobody, ten] = contestants;
  const target = FEED_TARGETS.writesBesideReaders;
  return [
    operation,
    digits(nobody!.figures.requestsPerSecond, 0),
    digits(ten!.figures.requestsPerSecond, 0),
    spread(ten!.speed),
    verdict(`≥ ${target}`, (ten!.speed.median ?? 0) >= target),
    digits(served(nobody!), 0),
    digits(served(ten!), 0),
    digits(ten!.figures.readersCpuMs, 0),
  ];
}

function served({ figures }: ContestantSummary): number | undefined {
  const { cpuMs, databaseCpuMs } = figures;
  return cpuMs === undefined || databaseCpuMs === undefined ? undefined : cpuMs + databaseCpuMs;
}
