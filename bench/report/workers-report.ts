import { table } from '../../tooling/markdown-table.ts';
import type { ContestSummary, ContestantSummary } from './contest-summary.ts';
import { howItWasDriven, remarks, type Surroundings } from './surroundings.ts';
import { digits, spread, verdict } from './table.ts';
import { WORKERS_TARGET } from './targets.ts';

export interface WorkersReport extends Surroundings {
  workers: number;
  connections: number;
  rounds: number;
  phaseMs: number;
  operations: ContestSummary[];
}

export function workersMarkdown(report: WorkersReport): string {
  const { machine, workers } = report;
  return [
    `# Benchmark: ${workers} workers beside one`,
    '',
    ...howItWasDriven(report, report),
    'rounds; ratios are medians of the ratios of the rounds, with the least and the greatest. Rounds in which other',
    'programs took more than 15 % of the processors are left out, as long as half remain. New connections go to the',
    'workers in turn. Only the ratios mean anything on another machine.',
    ...remarks(report),
    '',
    `The target is for a machine with cores to spare: ${workers} times what one worker uses, and at least ${workers}, beside`,
    `those that the database and the load take. This one has ${machine.cores}.`,
    '',
    ...table(
      [
        'operation',
        'service',
        'requests/s',
        'p50 ms',
        'p99 ms',
        'CPU ms per 1,000',
        'cores: service',
        'database',
        'load',
        'ratio',
        'target',
      ],
      report.operations.flatMap(({ operation, contestants }) =>
        contestants.map((contestant, place) =>
          place === 0
            ? row(operation, contestant, ['1', ''])
            : row('', contestant, [spread(contestant.speed), judged(contestant, contestants[0]!, report)]),
        ),
      ),
    ),
    '',
  ].join('\n');
}

function row(operation: string, { name, figures, cores }: ContestantSummary, comparison: string[]): string[] {
  return [
    operation,
    name,
    digits(figures.requestsPerSecond, 0),
    digits(figures.p50, 2),
    digits(figures.p99, 2),
    digits(figures.cpuMs, 0),
    digits(cores.server, 2),
    digits(cores.database, 2),
    digits(cores.driver, 2),
    ...comparison,
  ];
}

function judged(
  { speed, cores }: ContestantSummary,
  one: ContestantSummary,
  { machine, workers }: WorkersReport,
): string {
  const met = (speed.median ?? 0) >= WORKERS_TARGET;
  const left = machine.cores - (cores.database ?? 0) - (cores.driver ?? 0);
  // One process hashes on several cores: where it has taken them all, more workers find none.
  const wanted = workers * Math.max(1, one.cores.server ?? 1);
  const target = `≥ ${WORKERS_TARGET}`;
  // Without free cores a miss says nothing about the workers.
  return met || left >= wanted
    ? verdict(target, met)
    : `${target} cannot be judged: ${digits(left, 1)} of ${digits(wanted, 1)} cores were left`;
}
