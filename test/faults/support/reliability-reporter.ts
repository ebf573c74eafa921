import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { table } from '../../../tooling/markdown-table.js';
import { type Figures, FIGURES_FILE, type FiguresOfTest } from './figures.js';

const COMMAND = 'npm run test:faults';
const HEADINGS = [
  'Test',
  'Faults or rounds',
  'Requests',
  'Wrong answers',
  'Acknowledged writes',
  'Lost',
  'Longest answer',
  'Recovery (longest)',
  'Time',
  'Result',
];

/** Prints the figures of all tests as a table, and writes it to the file named by RELIABILITY_DOC. */
export class ReliabilityReporter implements Reporter {
  constructor(private readonly results: string) {}

  onTestRunEnd(modules: readonly TestModule[]): void {
    const figures = this.readFigures();
    const sections = modules
      .toSorted((a, b) => a.moduleId.localeCompare(b.moduleId))
      .map((module) => section(module, figures));
    const tables = sections.join('\n\n');
    console.log(`\n${tables}\n`);
    const document = process.env['RELIABILITY_DOC'];
    if (document === undefined) return;
    writeFileSync(document, `${introduction()}\n\n${tables}\n`);
  }

  private readFigures(): FiguresOfTest[] {
    const file = join(this.results, FIGURES_FILE);
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((json) => JSON.parse(json) as FiguresOfTest);
  }
}

function introduction(): string {
  const memory = Math.round(totalmem() / 1024 ** 3);
  return [
    '# Reliability',
    '',
    'Results of the fault tests, which run the built service as separate processes, on its own MariaDB, Galera and Redis',
    'servers, with real faults. Wrong answers and lost writes must be 0; a test with any is red. Database files are in',
    'memory where there is room, which kill -9 does not tell from a disk: the tests cut no power.',
    '',
    `- Made by: \`RELIABILITY_DOC=docs/reliability.md ${COMMAND}\``,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${cpus().length} cores, ${memory} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`,
  ].join('\n');
}

function section(module: TestModule, figures: FiguresOfTest[]): string {
  const name = basename(module.moduleId, '.e2e-spec.ts');
  const rows = [...module.children.allTests()].map((test) =>
    row(
      test,
      figures.filter(({ file, test: named }) => file === module.moduleId && named === test.fullName),
    ),
  );
  const seconds = Math.round(module.diagnostic().duration / 1000);
  return [`## ${name} (${seconds} s)`, '', ...table(HEADINGS, rows)].join('\n');
}

function row(test: TestCase, figures: Figures[]): string[] {
  const sum = (pick: (figures: Figures) => number | undefined): string => {
    const values = figures.flatMap((one) => pick(one) ?? []);
    return values.length === 0 ? '' : String(values.reduce((a, b) => a + b));
  };
  return [
    test.fullName.replaceAll('|', String.raw`\|`),
    sum(({ faults }) => faults),
    sum(({ requests }) => requests),
    sum(({ wrong }) => wrong),
    sum(({ acknowledged }) => acknowledged),
    sum(({ lost }) => lost),
    longest(figures.flatMap(({ longestAnswerMs }) => longestAnswerMs ?? [])),
    longest(figures.flatMap(({ recoveriesMs }) => recoveriesMs ?? [])),
    `${((test.diagnostic()?.duration ?? 0) / 1000).toFixed(1)} s`,
    test.result().state,
  ];
}

function longest(times: number[]): string {
  return times.length === 0 ? '' : `${Math.round(Math.max(...times))} ms`;
}
