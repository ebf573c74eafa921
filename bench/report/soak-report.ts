import type { Measured } from '../load/measure.ts';
import { SHARES } from '../load/mix.ts';
import { remarks, type Surroundings, whereAndWhen } from './surroundings.ts';
import { digits, grouped, table, verdict } from './table.ts';
import { SOAK_MEMORY_TARGET } from './targets.ts';

/** One part of the requests; resident memory of the service right after it, and the most meanwhile. */
export interface SoakStep extends Measured {
  mib: number | undefined;
  peakMib: number | undefined;
}

export interface SoakReport extends Surroundings {
  requests: number;
  connections: number;
  restMib: number | undefined;
  warmUp: SoakStep;
  tenths: SoakStep[];
}

export function soakMarkdown(report: SoakReport): string {
  const { requests, connections, restMib, warmUp, tenths } = report;
  const [first, second] = [tenths[0]?.mib, tenths[1]?.mib];
  const last = tenths.at(-1)?.mib;
  const [where, what] = whereAndWhen(report);
  return [
    `# Benchmark: the service's memory over ${grouped(requests)} requests`,
    '',
    where,
    `${what} ${connections} keep-alive`,
    'connections. Resident memory right after each part, and the most meanwhile. Of 1,000 requests:',
    `${shares()}.`,
    ...remarks(report),
    '',
    ...table(
      ['', 'MiB after', 'most MiB', 'requests/s', 'p50 ms', 'p99 ms'],
      [
        ['at rest', digits(restMib, 0), '', '', '', ''],
        row(`warm-up of ${grouped(warmUp.requests)}`, warmUp),
        ...tenths.map((tenth, place) => row(`${place + 1} of ${tenths.length}`, tenth)),
      ],
    ),
    '',
    ...table(
      ['MiB after the last part, against', 'ratio', 'target'],
      [
        ['the second', `**${digits(over(last, second), 2)}**`, judged(over(last, second))],
        ['the first', digits(over(last, first), 2), ''],
        ['rest', digits(over(last, restMib), 2), ''],
      ],
    ),
    '',
  ].join('\n');
}

function row(name: string, { mib, peakMib, requestsPerSecond, p50, p99 }: SoakStep): string[] {
  return [
    name,
    digits(mib, 0),
    digits(peakMib, 0),
    digits(requestsPerSecond, 0),
    digits(p50, 2),
    digits(p99, 2),
  ];
}

function shares(): string {
  return Object.entries(SHARES)
    .map(([name, share]) => `${name} ${share}`)
    .join(', ');
}

function over(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a / b;
}

function judged(ratio: number | undefined): string {
  return verdict(`≤ ${SOAK_MEMORY_TARGET}`, (ratio ?? Infinity) <= SOAK_MEMORY_TARGET);
}
