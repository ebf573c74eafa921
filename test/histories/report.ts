import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Violation } from './history.js';
import type { Run } from './run.js';

/** Prints what a run did and found; what it found it leaves in a new folder, with the whole history. */
export function report(
  setUp: string,
  { operations, logs, faults }: Run,
  violations: readonly Violation[],
): void {
  const { ok = 0, failed = 0, unknown = 0 } = countBy(operations, ({ result }) => result);
  console.info(
    [
      `${setUp}: ${operations.length} operations (${ok} ok, ${failed} failed, ${unknown} unknown): ${listOf(
        countBy(operations, ({ kind }) => kind),
      )}`,
      `  ${faults.length} faults: ${listOf(countBy(faults, (name) => name))}`,
      `  ${violations.length} violations: ${listOf(rulesOf(violations))}`,
      ...[...new Map(violations.map((one) => [one.rule, one.text]))].map(
        ([rule, text]) => `    ${rule}: ${text}`,
      ),
    ].join('\n'),
  );
  if (violations.length === 0) return;
  const directory = mkdtempSync(join(tmpdir(), 'accounts-history-'));
  const inOrder = operations.toSorted((one, other) => one.startedAt - other.startedAt);
  writeFileSync(join(directory, 'operations.jsonl'), linesOf(inOrder));
  writeFileSync(join(directory, 'audit-log.jsonl'), linesOf([...logs.values()].flat()));
  writeFileSync(join(directory, 'violations.jsonl'), linesOf(violations));
  console.info(`  the history is in ${directory}`);
}

export function rulesOf(violations: readonly Violation[]): Record<string, number> {
  return countBy(violations, ({ rule }) => rule);
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(items, keyOf)].map(([key, among]) => [key, among.length]));
}

function listOf(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return parts.join(', ') || 'none';
}

function linesOf(items: readonly unknown[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('');
}
