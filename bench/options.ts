import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { OPERATIONS, type OperationName } from './load/operations.ts';

export interface Plan {
  connections: number;
  /** even: who comes first in a round is a little slower, and each side is first in half of them */
  rounds: number;
  phaseMs: number;
  /** register and login: a hash takes so long that a short run would hold too few for a p99 */
  hashPhaseMs: number;
  warmUpMs: number;
  floodRounds: number;
  floodMs: number;
  budgetMs: number;
}

export interface Options {
  engine: 'mariadb' | 'sqlite';
  quick: boolean;
  serviceScript: string;
  /** whether the baseline also plays the service, which must come out at a ratio of 1 */
  selfTest: boolean;
  operations: OperationName[];
  /** users in the database besides those who are measured */
  crowd: number;
  outDirectory: string;
  plan: Plan;
}

const FULL: Plan = {
  connections: 32,
  rounds: 8,
  phaseMs: 900,
  hashPhaseMs: 1300,
  warmUpMs: 400,
  floodRounds: 3,
  floodMs: 1500,
  budgetMs: 300_000,
};
const QUICK: Plan = {
  connections: 32,
  rounds: 4,
  phaseMs: 225,
  hashPhaseMs: 400,
  warmUpMs: 250,
  floodRounds: 1,
  floodMs: 700,
  budgetMs: 60_000,
};

export const BASELINE_SCRIPT = path('baseline/main.ts');

export const USAGE = `npm run bench -- [--quick] [--engine mariadb|sqlite] [--only "me,list of 20"] [--out DIR]
                    [--users N]        so many more users in the database
                    [--service FILE]   the built service (dist/main.js), or "baseline" for the baseline against itself
operations: ${OPERATIONS.join('; ')}`;

/** @throws Error that says which argument is wrong */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      engine: { type: 'string', default: 'mariadb' },
      service: { type: 'string', default: path('../dist/main.js') },
      only: { type: 'string' },
      users: { type: 'string', default: '0' },
      out: { type: 'string', default: path('results') },
    },
  });
  const { engine } = values;
  if (engine !== 'mariadb' && engine !== 'sqlite') throw new Error('--engine is mariadb or sqlite');
  return {
    engine,
    quick: values.quick,
    selfTest: values.service === 'baseline',
    serviceScript: values.service === 'baseline' ? BASELINE_SCRIPT : resolve(values.service),
    operations: selectOperations(values.only),
    crowd: readCrowd(values.users),
    outDirectory: resolve(values.out),
    plan: values.quick ? QUICK : FULL,
  };
}

function readCrowd(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new Error('--users is a whole number below ten million');
  return Number(text);
}

function selectOperations(only: string | undefined): OperationName[] {
  if (only === undefined) return [...OPERATIONS];
  // A name may hold a comma, as in "list of 1,000".
  const wanted = only.split(/,(?!\d)/).map((name) => name.trim());
  const unknown = wanted.find((name) => !OPERATIONS.some((operation) => operation === name));
  if (unknown !== undefined) throw new Error(`--only: there is no operation "${unknown}"`);
  return OPERATIONS.filter((operation) => wanted.includes(operation));
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
