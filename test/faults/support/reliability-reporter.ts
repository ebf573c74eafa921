import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { table } from '../../../tooling/markdown-table.js';
import { type Figures, FIGURES_FILE, type FiguresOfTest } from './figures.js';

const COMMAND = 'npm run test:faults';
const COLUMNS: [heading: string, figure: keyof Figures][] = [
  ['Faults or rounds', 'faults'],
  ['Requests', 'requests'],
  ['Wrong answers', 'wrong'],
  ['Acknowledged writes', 'acknowledged'],
  ['Lost', 'lost'],
  ['Longest answer', 'longestAnswerMs'],
  ['Recovery (longest)', 'recoveriesMs'],
];
const HEADINGS = ['Test', ...COLUMNS.map(([heading]) => heading), 'Time', 'Result'];

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
    `- Made by: \`RELIABILITY_DOC=test/faults/RESULTS.md ${COMMAND}\``,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${cpus().length} cores, ${memory} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`,
  ].join('\n');
}

function section(module: TestModule, figures: FiguresOfTest[]): string {
  const ofModule = figures.filter(({ file }) => file === module.moduleId);
  const rows = [...module.children.allTests()].map((test) => {
    const ofTest = ofModule.filter(({ test: name }) => name === test.fullName);
    const seconds = ((test.diagnostic()?.duration ?? 0) / 1000).toFixed(1);
    const cells = COLUMNS.map(([, figure]) => cell(figure, ofTest));
    return [test.fullName.replaceAll('|', String.raw`\|`)].concat(cells, `${seconds} s`, test.result().state);
  });
  const seconds = Math.round(module.diagnostic().duration / 1000);
  const name = basename(module.moduleId, '.e2e-spec.ts');
  return [`## ${name} (${seconds} s)`, '', ...table(HEADINGS, rows)].join('\n');
}

function cell(figure: keyof Figures, all: readonly Figures[]): string {
  const values = all.flatMap((figures) => figures[figure] ?? []);
  if (values.length === 0) return '';
  if (figure.endsWith('Ms')) return `${Math.round(Math.max(...values))} ms`;
  return String(values.reduce((one, other) => one + other));
}
