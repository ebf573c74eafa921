import { median } from '../../tooling/median.ts';
import { table } from '../../tooling/markdown-table.ts';
import type { AdmissionName, RequestName, Sender } from '../client/protocol.ts';
import type { Ratio } from './figures.ts';
import { remarks, type Surroundings, whereAndWhen } from './surroundings.ts';
import { digits, grouped, spread, verdict } from './table.ts';
import { CLIENT_TARGETS } from './targets.ts';

export interface RequestSummary {
  request: RequestName;
  /** of each round, for 1,000 requests */
  cpuMs: Record<Sender, number[]>;
}

export interface AdmissionSummary {
  admission: AdmissionName;
  /** of each round, in a second of processor time */
  tokensPerSecond: number[];
  heapMib: number[];
}

export interface ClientReport extends Surroundings {
  rounds: number;
  requests: RequestSummary[];
  admissions: AdmissionSummary[];
}

export function clientMarkdown(report: ClientReport): string {
  const [first, second] = whereAndWhen(report);
  return [
    '# Benchmark: the client',
    '',
    first,
    `${second} ${report.rounds} rounds${report.quick ? ' (quick)' : ''}.`,
    'Figures are medians of the rounds; ratios are medians of the ratios of the rounds, with the least and the greatest.',
    ...remarks(report),
    '',
    'Processor time of a process that sends requests by the client, and by `fetch` alone, in turn:',
    '',
    ...table(
      ['request', 'fetch, CPU ms per 1,000', 'client', 'ratio', 'target'],
      report.requests.map(requestRow),
    ),
    '',
    'Tokens that the guard admits in a second of processor time, whose signatures it has verified before:',
    '',
    ...table(
      ['asked for', 'tokens/s', 'target', 'heap MiB, first round', 'last'],
      report.admissions.map(admissionRow),
    ),
    '',
  ].join('\n');
}

function requestRow({ request, cpuMs }: RequestSummary): string[] {
  const ratio = ratioOf(cpuMs.client, cpuMs.fetch);
  const target = CLIENT_TARGETS.cpu;
  return [
    request,
    digits(median(cpuMs.fetch), 0),
    digits(median(cpuMs.client), 0),
    spread(ratio),
    verdict(`≤ ${target}`, (ratio.median ?? Infinity) <= target),
  ];
}

function ratioOf(over: number[], under: number[]): Ratio {
  const ratios = over.map((value, round) => value / under[round]!);
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

function admissionRow({ admission, tokensPerSecond, heapMib }: AdmissionSummary): string[] {
  const speed = median(tokensPerSecond) ?? 0;
  const target = CLIENT_TARGETS.tokensPerSecond;
  return [
    admission,
    grouped(Math.round(speed)),
    verdict(`≥ ${grouped(target)}`, speed >= target),
    digits(heapMib.at(0), 1),
    digits(heapMib.at(-1), 1),
  ];
}
