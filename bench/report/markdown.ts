import type { Report } from './report.ts';
import type { FloodSummary, OperationSummary, Ratio, Slowdown } from './summary.ts';
import { FLOOD_P99_TARGET, TARGETS } from './targets.ts';

const TOLERABLE_FOREIGN_LOAD = 0.05;

export function toMarkdown(report: Report): string {
  const { machine, flood, processes } = report;
  return [
    `# Benchmark: ${report.selfTest ? 'the baseline against itself' : 'the service beside the baseline'}`,
    '',
    `${report.date.slice(0, 10)}, ${machine.cores} cores (${machine.processor}), ${machine.memoryGib} GiB,`,
    `${machine.system}, Node ${report.node}, ${report.database}, ${report.hashEngine}. ${report.connections} keep-alive`,
    `connections, ${report.rounds} rounds of ${report.phaseMs} ms${report.quick ? ' (quick)' : ''}. Figures are medians of the`,
    'rounds, service / baseline; ratios are medians of the ratios of the rounds, with the least and the greatest.',
    'Rounds in which other programs took more than 15 % of the processors are left out, as long as half remain.',
    ...(report.crowd > 0
      ? [`Besides those who are measured, ${report.crowd.toLocaleString('en')} users.`]
      : []),
    ...foreignLoadWarning(report.foreignLoad),
    'The baseline signs with HS256 and checks no session. Only the ratios mean anything on another machine.',
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
      report.operations.map(operationRow),
    ),
    '',
    'p99 of GET /api/me alone and while 16 clients log in without pause: at a steady 200 requests/s, where one',
    'that waits for a core shows at once, and with all connections busy, as in the table above.',
    '',
    ...table(
      ['', 'alone, ms', 'flooded, ms', `ratio, target ≤ ${FLOOD_P99_TARGET}`, 'logins/s'],
      [...floodRows('service', flood.service), ...floodRows('baseline', flood.baseline)],
    ),
    '',
    ...table(
      ['', 'start ms', 'MiB at rest', 'MiB after the load'],
      Object.entries(processes).map(([side, { startMs, atRestMib, afterMib }]) => [
        side,
        digits(startMs, 0),
        digits(atRestMib, 0),
        digits(afterMib, 0),
      ]),
    ),
    '',
    'The baseline runs from its TypeScript source, which costs it about 30 ms and 15 MiB.',
    '',
  ].join('\n');
}

function foreignLoadWarning(share: number | undefined): string[] {
  if (share === undefined || share < TOLERABLE_FOREIGN_LOAD) return [];
  return [
    `**Other programs used ${digits(share * 100, 0)} % of the processors over the whole run: repeat it on a quiet machine.**`,
  ];
}

function operationRow({ name, figures: { service, baseline }, ratio }: OperationSummary): string[] {
  const target = TARGETS[name];
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

function floodRows(side: string, { steady, saturated, loginsPerSecond }: FloodSummary): string[][] {
  const row = (load: string, { p99Alone, p99Flooded, ratio }: Slowdown, logins: string): string[] => [
    `${side}, ${load}`,
    digits(p99Alone, 2),
    digits(p99Flooded, 2),
    verdict(`**${digits(ratio, 2)}**`, (ratio ?? Infinity) <= FLOOD_P99_TARGET),
    logins,
  ];
  return [row('steady', steady, digits(loginsPerSecond, 0)), row('all busy', saturated, '')];
}

function table(head: string[], rows: string[][]): string[] {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '--:'))), ...rows.map(line)];
}

function spread({ median, min, max }: Ratio): string {
  return median === undefined ? '' : `**${digits(median, 2)}** (${digits(min, 2)}–${digits(max, 2)})`;
}

function verdict(target: string, met: boolean): string {
  return `${target} ${met ? 'met' : 'missed'}`.trim();
}

function digits(value: number | undefined, decimals: number): string {
  return value === undefined ? '' : value.toFixed(decimals);
}
