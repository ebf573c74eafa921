import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lateRefusals } from './checks/delegation.js';
import type { History, Violation } from './history.js';

/** Prints what a run did and found; what it found it leaves in a new folder, with the whole history. */
export function report(setUp: string, history: History, violations: readonly Violation[]): void {
  const { operations, logs, faults } = history;
  const { ok = 0, failed = 0, unknown = 0 } = countBy(operations, ({ result }) => result);
  console.info(
    [
      `${setUp}: ${operations.length} operations (${ok} ok, ${failed} failed, ${unknown} unknown): ${listOf(
        countBy(operations, ({ kind }) => kind),
      )}`,
      ...ofDelegations(history),
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

function ofDelegations(history: History): string[] {
  const { operations, stalls } = history;
  const kindOf = (link: string): string => link.split(' ')[0]!;
  const cuts = operations.filter((one) => one.kind === 'cut');
  const uses = operations.filter((one) => one.kind === 'admission');
  const used = uses.flatMap(({ links }) => Array.from(new Set(links.map(({ name }) => kindOf(name)))));
  const late = lateRefusals(history).toSorted((one, other) => other.ms - one.ms);
  const stalledMs = Math.round(stalls.reduce((sum, { startedAt, endedAt }) => sum + endedAt - startedAt, 0));
  return [
    `  cuts: ${listOf(countBy(cuts, ({ link }) => kindOf(link)))}`,
    `  uses of tokens at guards by link: ${listOf(countBy(used, (kind) => kind))}`,
    `  ${late.length} tokens were admitted after the end of a link, and then refused: ${late
      .slice(0, 3)
      .map(({ ms, link, guard }) => `${guard} after ${Math.round(ms)} ms (${link})`)
      .join(', ')}`,
    `  this process stalled for ${stalledMs} ms`,
  ];
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
