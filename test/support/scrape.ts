import { hangTimeoutMs, waitFor, within } from '../../tooling/wait.js';

export interface Scraped {
  text: string;
  contentType: string | null;
  /** the value of `name{label="value",…}`, its labels in any order; undefined where there is no such line */
  value: (name: string, labels?: Record<string, string>) => number | undefined;
  /** of all lines of that name with these labels, whatever their other labels */
  sum: (name: string, labels?: Record<string, string>) => number;
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export async function metricsUrl(logs: readonly string[]): Promise<string> {
  return waitFor('the log says where the metrics are', hangTimeoutMs(), () =>
    logs.map((line) => /"metrics":"(http:[^"]+)"/.exec(line)?.[1]).find((url) => url !== undefined),
  );
}

export async function scrape(url: string): Promise<Scraped> {
  const response = await within('a scrape is answered', hangTimeoutMs(), fetch(url));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The scrape was answered ${response.status}: ${text}`);
  const samples = text.split('\n').flatMap(parseSample);
  const matching = (name: string, labels: Record<string, string>): Sample[] =>
    samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return {
    text,
    contentType: response.headers.get('content-type'),
    value: (name, labels = {}) =>
      matching(name, labels).find(
        (sample) => Object.keys(sample.labels).length === Object.keys(labels).length,
      )?.value,
    sum: (name, labels = {}) => matching(name, labels).reduce((sum, { value }) => sum + value, 0),
  };
}

function parseSample(line: string): Sample[] {
  const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) return [];
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, key, text]) => [key!, text!] as const,
  );
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
}
