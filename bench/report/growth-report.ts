import { table } from '../../tooling/markdown-table.ts';
import type { ContestSummary } from './contest-summary.ts';
import { howItWasDriven, remarks, type Surroundings } from './surroundings.ts';
import { digits, grouped, spread, verdict } from './table.ts';
import { GROWTH_COST_TARGET } from './targets.ts';

/** Reading whole lists on a server that has done nothing else. */
export interface ListReading {
  members: number;
  reads: number;
  /** of the longest answer time */
  p99: number;
  restMib: number | undefined;
  /** above rest */
  peakMib: number | undefined;
}

export interface GrowthReport extends Surroundings {
  bufferPoolMib: number;
  connections: number;
  rounds: number;
  phaseMs: number;
  users: ContestSummary[];
  members: ContestSummary[];
  lists: ListReading[];
}

export function growthMarkdown(report: GrowthReport): string {
  return [
    '# Benchmark: what a request costs as the data grow',
    '',
    ...howItWasDriven(report, report),
    'rounds. Cost is 1 / requests per second, as the median of the ratios of the rounds to the first size, with the',
    'least and the greatest. Rounds in which other programs took more than 15 % of the processors are left out, as',
    `long as half remain. The buffer pool of the database has ${grouped(report.bufferPoolMib)} MiB. Only the ratios mean anything on`,
    'another machine.',
    ...remarks(report),
    '',
    'A database for each number of other users, each of whom has a session and an organization.',
    '',
    ...contest('other users', report.users),
    '',
    'In one database, owners of organizations of so many members; guests come, change and go.',
    '',
    ...contest('members', report.members),
    '',
    'Whole lists read one after another, each length on a newly started service: its resident memory before, and the',
    'most of it meanwhile.',
    '',
    ...table(
      ['members in the list', 'reads', 'p99 ms', 'MiB at rest', 'MiB above rest'],
      report.lists.map(({ members, reads, p99, restMib, peakMib }) => [
        grouped(members),
        grouped(reads),
        digits(p99, 1),
        digits(restMib, 0),
        `**${digits(peakMib, 0)}**`,
      ]),
    ),
    '',
  ].join('\n');
}

function contest(size: string, operations: ContestSummary[]): string[] {
  return table(
    [
      'operation',
      size,
      'requests/s',
      'p50 ms',
      'p99 ms',
      'CPU ms per 1,000',
      'of the database',
      'cost',
      'target',
    ],
    operations.flatMap(({ operation, contestants }) =>
      contestants.map(({ name, figures, cost }, place) => [
        place === 0 ? operation : '',
        name,
        digits(figures.requestsPerSecond, 0),
        digits(figures.p50, 2),
        digits(figures.p99, 2),
        digits(figures.cpuMs, 0),
        digits(figures.databaseCpuMs, 0),
        ...(place === 0
          ? ['1', '']
          : [
              spread(cost),
              verdict(`≤ ${GROWTH_COST_TARGET}`, (cost.median ?? Infinity) <= GROWTH_COST_TARGET),
            ]),
      ]),
    ),
  );
}
