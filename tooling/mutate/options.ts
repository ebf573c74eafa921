import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

const USAGE = `npm run mutate -- FILE[:LINE[-LINE]] [options]

Puts small mistakes into one source file, one at a time, in a private copy of the project, runs the tests that can notice
them, and prints those that none noticed.

  --tests PATTERN   the e2e files whose path contains it, or one of several (default: the folder of test/ that is
                    named as the file's folder of src/). Unit tests of the file's folder run first.
  --engine NAME     sqlite (default) or mariadb
  --jobs NUMBER     mistakes tried at once (default: one for each core)
  --list            prints the mistakes and runs nothing`;

export interface Options {
  file: string;
  lines: { from: number; to: number };
  tests?: string[];
  engine: 'sqlite' | 'mariadb';
  jobs: number;
  list: boolean;
}

/** @throws Error with a line for the user */
export function readOptions(parameters: string[]): Options {
  const { values, positionals } = parseArgs({
    args: parameters,
    allowPositionals: true,
    options: {
      tests: { type: 'string', multiple: true },
      engine: { type: 'string', default: 'sqlite' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      list: { type: 'boolean', default: false },
    },
  });
  const place = /^(?<file>src\/[^:]+\.ts)(?::(?<from>\d+)(?:-(?<to>\d+))?)?$/.exec(
    positionals[0] ?? '',
  )?.groups;
  const jobs = Number(values.jobs);
  if (!place || positionals.length > 1 || !(jobs >= 1)) throw new Error(USAGE);
  if (values.engine !== 'sqlite' && values.engine !== 'mariadb') throw new Error(USAGE);
  const from = Number(place['from'] ?? 1);
  return {
    file: place['file'] ?? '',
    lines: {
      from,
      to: place['to'] === undefined ? (place['from'] === undefined ? Infinity : from) : Number(place['to']),
    },
    ...(values.tests !== undefined && { tests: values.tests }),
    engine: values.engine,
    jobs,
    list: values.list,
  };
}
