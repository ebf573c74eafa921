import { isLintClean } from './linter.ts';
import { apply, type Mutant } from './mutations.ts';
import type { Options } from './options.ts';
import { runTests } from './test-run.ts';
import type { Workspace } from './workspace.ts';

/** Slower than this many runs without a mutation is an endless loop, or a wait that never ends. */
const SLOWER = 4;
const MIN_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Tries mutations; tests that detected one run first for the next. */
export class Hunt {
  private readonly noticed = new Map<string, number>();
  private durations: Record<string, number> = {};
  private timeoutMs = MAX_TIMEOUT_MS;

  private readonly options: Options;
  private readonly source: string;
  private readonly files: readonly string[];

  constructor(options: Options, source: string, files: readonly string[]) {
    this.options = options;
    this.source = source;
    this.files = files;
  }

  /**
   * Runs the tests without a mutation.
   * @returns how long they took, in milliseconds
   * @throws when one fails
   */
  async rehearse(workspace: Workspace): Promise<number> {
    const begin = performance.now();
    const { outcome, durations, failure = '', output } = await this.runTests(workspace);
    if (outcome !== 'passed') throw new Error(`The tests fail without any mistake: ${failure}\n${output}`);
    const tookMs = performance.now() - begin;
    this.durations = durations;
    this.timeoutMs = Math.max(MIN_TIMEOUT_MS, SLOWER * tookMs);
    return tookMs;
  }

  /** @returns what detected the mutation; undefined when nothing did */
  async try(mutant: Mutant, workspace: Workspace): Promise<string | undefined> {
    workspace.write(apply(mutant, this.source));
    const { outcome, failure } = await this.runTests(workspace);
    if (outcome === 'passed') {
      return (await isLintClean(workspace, this.options.file)) ? undefined : 'the linter';
    }
    if (outcome === 'timed out') return 'a time-out';
    const [file] = failure?.split(/ > |: /) ?? [];
    if (file !== undefined) this.noticed.set(file, (this.noticed.get(file) ?? 0) + 1);
    return failure ?? 'the build';
  }

  private runTests(workspace: Workspace): ReturnType<typeof runTests> {
    const { engine } = this.options;
    return runTests(workspace, { engine, files: this.inOrder(), timeoutMs: this.timeoutMs });
  }

  /** First those that detect most for their time. */
  private inOrder(): string[] {
    const worth = (file: string): number =>
      (this.noticed.get(file) ?? 0.1) / ((this.durations[file] ?? 0) + 100);
    return this.files.toSorted((one, other) => worth(other) - worth(one));
  }
}
