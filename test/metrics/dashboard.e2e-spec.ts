import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { anAccount } from '../support/personas.js';
import { metricsUrl, scrape } from '../support/scrape.js';
import { startOwnService } from '../support/service.js';

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const FILE = resolve(import.meta.dirname, '../../deploy/grafana-dashboard.json');
/** Those that Prometheus adds, and that of the buckets. */
const LABELS_OF_OTHERS = ['instance', 'le'];

const service = await startOwnService({ env: { METRICS_PORT: '0' } });
await anAccount(service);
const { text } = await scrape(await metricsUrl(service.logs));
afterAll(() => service.stop());

describe('the dashboard', () => {
  const { panels } = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[] };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  /** `name` of each `# TYPE name kind` line. */
  const names = (): string[] => [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!);
  const named = (query: string): string[] =>
    [...query.matchAll(/\b(?:accounts|process|nodejs)_\w+/g)].map(([name]) => name);

  it('asks for metrics that a scrape has, and nothing else', () => {
    const known = new Set(
      names().flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]),
    );
    const asked = queries.flatMap(named);

    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
    expect(queries.filter((query) => named(query).length === 0)).toEqual([]);
  });

  it('shows every metric of the service', () => {
    const asked = queries.flatMap(named).join(' ');

    const own = names().filter((name) => name.startsWith('accounts_'));
    expect(own).toHaveLength(12);
    expect(own.filter((name) => !asked.includes(name))).toEqual([]);
  });

  it('groups and filters by labels that there are', () => {
    const known = [...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label!);
    const labels = new Set([...known, ...LABELS_OF_OTHERS]);
    const groups = queries.flatMap((query) =>
      [...query.matchAll(/by \(([^)]*)\)/g)].map(([, list]) => list!),
    );
    const used = queries
      .flatMap((query) => [...query.matchAll(/[{,](\w+)(?:=~|!~|=|!=)"/g)].map(([, label]) => label!))
      .concat(groups.flatMap((list) => list.split(/,\s*/)));

    expect(used.filter((label) => !labels.has(label))).toEqual([]);
  });
});
