import { table } from '../../tooling/markdown-table.ts';
import type { Report } from './report.ts';
import type { FloodSummary, OperationSummary, Slowdown } from './summary.ts';
import { howItWasDriven, remarks } from './surroundings.ts';
import { digits, spread, verdict } from './table.ts';
import { EARLIER_BUILD_TARGET, FLOOD_P99_TARGET, SECOND_STEP_TARGET, TARGETS } from './targets.ts';

const TITLES = {
  baseline: 'the service beside the baseline',
  itself: 'the baseline against itself',
  'earlier build': 'the service beside an earlier build',
};

export function toMarkdown(report: Report): string {
  const { flood, processes } = report;
  const isBaseline = report.opponent !== 'earlier build';
  const other = isBaseline ? 'baseline' : report.opponent;
  return [
    `# Benchmark: ${TITLES[report.opponent]}`,
    '',
    ...howItWasDriven(report, report),
    `rounds, service / ${other}; ratios are medians of the ratios of the rounds, with the least and the greatest.`,
    'Rounds in which other programs took more than 15 % of the processors are left out, as long as half remain.',
    ...remarks(report),
    ...(isBaseline ? ['The baseline signs with HS256 and checks no session.'] : []),
    'Only the ratios mean anything on another machine.',
    '',
    ...table(
      [
        'operation',
        'requests/s',
        'ratio',
        'target',
        'p50 ms',
        'p99 ms',
        'ratio',
        'target',
        'CPU ms per 1,000',
        'ratio',
      ],
      report.operations.map((operation) => operationRow(operation, report.opponent)),
    ),
    '',
    ...besideAnExchange(report.operations),
    'p99 of GET /api/me alone and while 16 clients log in without pause: at a steady 200 requests/s, where one',
    'that waits for a core shows at once, and with all connections busy, as in the table above.',
    '',
    ...table(
      ['', 'alone, ms', 'flooded, ms', `ratio, target ≤ ${FLOOD_P99_TARGET}`, 'logins/s'],
      [...floodRows('service', flood.service), ...floodRows(other, flood.baseline)],
    ),
    '',
    ...table(
      ['', 'start ms', 'MiB at rest', 'MiB after the load'],
      Object.entries(processes).map(([side, { startMs, atRestMib, afterMib }]) => [
        side === 'service' ? side : other,
        digits(startMs, 0),
        digits(atRestMib, 0),
        digits(afterMib, 0),
      ]),
    ),
    '',
    ...(isBaseline
      ? ['The baseline runs from its TypeScript source, which costs it about 30 ms and 15 MiB.', '']
      : []),
  ].join('\n');
}

/** Both open a session. */
function besideAnExchange(operations: OperationSummary[]): string[] {
  const [step, exchange] = (['second step', 'exchange code'] as const).map(
    (wanted) => operations.find(({ name }) => name === wanted)?.figures.service.requestsPerSecond,
  );
  if (!step || !exchange) return [];
  return [
    `Second steps of a login for each exchange of a code, by the service: **${digits(step / exchange, 2)}**, ${verdict(
      `target ≥ ${SECOND_STEP_TARGET}`,
      step / exchange >= SECOND_STEP_TARGET,
    )}.`,
    '',
  ];
}

function operationRow(
  { name, figures: { service, baseline }, ratio }: OperationSummary,
  opponent: Report['opponent'],
): string[] {
  const target = opponent === 'earlier build' ? EARLIER_BUILD_TARGET : TARGETS[name];
  const both = (figure: keyof typeof service, decimals: number): string =>
    `${digits(service[figure], decimals)} / ${digits(baseline[figure], decimals)}`;
  return [
    name,
    both('requestsPerSecond', 0),
    spread(ratio.requestsPerSecond),
    verdict(
      `≥ ${target.requestsPerSecond}`,
      (ratio.requestsPerSecond.median ?? 0) >= target.requestsPerSecond,
    ),
    both('p50', 2),
    both('p99', 2),
    spread(ratio.p99),
    verdict(`≤ ${target.p99}`, (ratio.p99.median ?? Infinity) <= target.p99),
    both('cpuMs', 0),
    spread(ratio.cpuMs),
  ];
}

function floodRows(side: string, { steady, saturated }: FloodSummary): string[][] {
  const row = (load: string, { p99Alone, p99Flooded, ratio, loginsPerSecond }: Slowdown): string[] => [
    `${side}, ${load}`,
    digits(p99Alone, 2),
    digits(p99Flooded, 2),
    verdict(`**${digits(ratio, 2)}**`, (ratio ?? Infinity) <= FLOOD_P99_TARGET),
    digits(loginsPerSecond, 0),
  ];
  return [row('steady', steady), row('all busy', saturated)];
}
