import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from './workspace.ts';

export interface TestRun {
  outcome: 'passed' | 'failed' | 'timed out';
  /** the first test that failed, where one did */
  failure?: string;
  /** how long each file took, in milliseconds, by its path in the project */
  durations: Record<string, number>;
  /** the end of what the test runner wrote */
  output: string;
}

export interface Tests {
  engine: string;
  /** in the order in which they are run */
  files: readonly string[];
  timeoutMs: number;
}

const VITEST = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config=vitest.mutate.config.ts',
  '--configLoader=runner',
];
const LAST_CHARACTERS = 4000;

const running = new Set<ChildProcess>();

export function killTestRuns(): void {
  running.forEach(killProcessTree);
}

/** Runs the files until one test fails. */
export async function runTests(workspace: Workspace, tests: Tests): Promise<TestRun> {
  const report = join(workspace.temporary, 'report.json');
  rmSync(report, { force: true });
  const child = spawnVitest(workspace, tests, report);
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + String(chunk)).slice(-LAST_CHARACTERS);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killProcessTree(child);
  }, tests.timeoutMs);
  const code = await new Promise<number | null>((done) => child.once('close', done));
  clearTimeout(timer);
  running.delete(child);
  const outcome = late ? 'timed out' : code === 0 ? 'passed' : 'failed';
  const noted = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Partial<TestRun>) : {};
  return { durations: {}, ...noted, outcome, output };
}

function spawnVitest({ root, temporary }: Workspace, { engine, files }: Tests, report: string): ChildProcess {
  const child = spawn(process.execPath, VITEST, {
    cwd: root,
    env: {
      ...process.env,
      NO_COLOR: '1',
      TMPDIR: temporary,
      MUTATE_ENGINE: engine,
      MUTATE_FILES: files.join('\n'),
      MUTATE_REPORT: report,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  return child;
}

function killProcessTree({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    return;
  }
}
