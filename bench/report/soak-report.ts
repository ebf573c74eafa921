import { table } from '../../tooling/markdown-table.ts';
import type { Measured } from '../load/measure.ts';
import { SHARES } from '../load/mix.ts';
import { remarks, type Surroundings, whereAndWhen } from './surroundings.ts';
import { digits, grouped, verdict } from './table.ts';
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
    'The collector lets memory rise and fall: the most of a long part says more than the end of it.',
    '',
    ...table(
      ['the last part against', 'MiB after', 'target', 'most MiB', 'target'],
      [
        against('the second', tenths.at(-1), tenths[1], judged),
        // The first still fills what the service remembers.
        against('the first', tenths.at(-1), tenths[0], () => ''),
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

function against(
  name: string,
  last: SoakStep | undefined,
  earlier: SoakStep | undefined,
  judge: (ratio: number | undefined) => string,
): string[] {
  const [after, most] = [over(last?.mib, earlier?.mib), over(last?.peakMib, earlier?.peakMib)];
  return [name, bold(after), judge(after), bold(most), judge(most)];
}

function bold(ratio: number | undefined): string {
  return `**${digits(ratio, 2)}**`;
}

function shares(): string {
  return Object.entries(SHARES)
    .map(([name, share]) => `${share} ${name}`)
    .join(', ');
}

function over(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a / b;
}

function judged(ratio: number | undefined): string {
  return verdict(`≤ ${SOAK_MEMORY_TARGET}`, (ratio ?? Infinity) <= SOAK_MEMORY_TARGET);
}
