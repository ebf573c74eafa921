import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { measure } from '../../src/telemetry/metrics/instruments.js';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { findProgram } from '../../tooling/processes/find-program.js';

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

interface RuleTest {
  name: string;
  promql_expr_test: { expr: string; exp_samples: object[] }[];
}

/** Of Prometheus itself, and of its blackbox exporter. */
const METRICS_OF_OTHERS = ['up', 'probe_ssl_earliest_cert_expiry'];
const LABELS_OF_OTHERS = ['job', 'instance', 'le'];

const ROOT = resolve(import.meta.dirname, '../..');
const SHIPPED = resolve(ROOT, 'deploy/alerts.yml');
const SHIPPED_TESTS = resolve(import.meta.dirname, 'alerts.test.yml');
const directory = temporaryDirectory('alerts');
/** With the rules that the shipped file has as comments: `#` without a space after it. */
const RULES = write('alerts.yml', readFileSync(SHIPPED, 'utf8').replaceAll(/^( +)#(?=- | {2})/gm, '$1'));
const RULE_TESTS = write(
  'alerts.test.yml',
  readFileSync(SHIPPED_TESTS, 'utf8').replace('../../deploy/alerts.yml', RULES),
);

function write(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

const read = (file: string): unknown => parse(readFileSync(file, 'utf8'));
const { groups } = read(RULES) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { tests } = read(RULE_TESTS) as { tests: RuleTest[] };

function promtool(...args: string[]): { status: number | null; output: string } {
  const program = findProgram('promtool');
  if (program === undefined) throw new Error('promtool is not installed (Debian: prometheus)');
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('the alerts', () => {
  it.each([
    ['the configuration, which loads them', 'check', 'config', 'deploy/prometheus.yml'],
    ['the rules', 'check', 'rules', SHIPPED],
    ['the rules with those that are comments', 'check', 'rules', RULES],
    ['the tests of the rules', 'test', 'rules', RULE_TESTS],
  ])('pass promtool: %s', (_, ...args) => {
    const { status, output } = promtool(...args);
    expect(status, output).toBe(0);
  });

  it('are each tested once silent and once firing', () => {
    expect(tests.map(({ name }) => name)).toEqual(rules.map(({ alert }) => alert));
    const wrong = tests.filter(({ name, promql_expr_test: [before, after, ...more] }) => {
      const isOfIt = [before, after].every((each) => each?.expr.includes(`alertname="${name}"`));
      return (
        !isOfIt || before!.exp_samples.length !== 0 || after!.exp_samples.length !== 1 || more.length > 0
      );
    });
    expect(wrong).toEqual([]);
  });

  it('each have a severity, a pause, a summary and a runbook', () => {
    const incomplete = rules.filter(
      ({ for: pause, labels, annotations }) =>
        !/^\d+[mh]$/.test(pause) ||
        !['critical', 'warning', 'info'].includes(labels.severity) ||
        annotations.summary.length > 90 ||
        annotations.runbook.length < 20,
    );
    expect(incomplete).toEqual([]);
  });

  it('link to sections of the docs that exist', () => {
    const links = [...readFileSync(RULES, 'utf8').matchAll(/(docs\/[\w-]+\.md)#([\w-]+)/g)];
    const dead = links.filter(([, page, anchor]) => !anchorsOf(page!).includes(anchor!));
    expect(links.length).toBeGreaterThan(5);
    expect(dead.map(([link]) => link)).toEqual([]);
  });
});

function anchorsOf(page: string): string[] {
  const headings = readFileSync(resolve(ROOT, page), 'utf8').matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, text]) =>
    text!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the alerts ask for what there is:', () => {
  const labels = labelsByMetric();
  const selected = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/\b(up|(?:accounts|process|nodejs|probe)_\w+)(?:\{([^}]*)\})?/g)].map(
      ([, name, filters = '']) => ({
        name: name!.replace(/(?<=_seconds)_(?:bucket|count|sum)$/, ''),
        filters: Array.from(filters.matchAll(/(\w+)(?:=~|!~|!=|=)"/g), ([, label]) => label!),
      }),
    ),
  );

  it('metrics', () => {
    expect(selected.length).toBeGreaterThan(15);
    expect(selected.map(({ name }) => name).filter((name) => !labels.has(name))).toEqual([]);
  });

  it('labels of each', () => {
    const unknown = selected.flatMap(({ name, filters }) =>
      filters.filter((label) => !labels.get(name)?.includes(label)).map((label) => `${name}{${label}}`),
    );
    expect(unknown).toEqual([]);
  });

  it('labels in groups and texts', () => {
    const text = rules.map(({ expr, annotations }) => `${expr} ${annotations.summary}`).join('\n');
    const groupedBy = [...text.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/));
    const shown = Array.from(text.matchAll(/\$labels\.(\w+)/g), ([, label]) => label!);
    const known = new Set([...labels.values()].flat());
    expect([...groupedBy, ...shown].filter((label) => !known.has(label))).toEqual([]);
  });
});

function labelsByMetric(): Map<string, readonly string[]> {
  const metrics = measure().getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[];
  return new Map([
    ...METRICS_OF_OTHERS.map((name) => [name, LABELS_OF_OTHERS] as const),
    ...metrics.map(({ name, labelNames }) => [name, [...labelNames, ...LABELS_OF_OTHERS]] as const),
  ]);
}
