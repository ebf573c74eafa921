import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { OPERATIONS, type OperationName } from './load/call.ts';
import { FEED, FULL, type Plan, QUICK } from './plan.ts';
import { HASH_ENGINES, type HashEngine } from './servers/hash-engine.ts';

type Mode =
  | { table: 'baseline'; operations: OperationName[] }
  | { table: 'growth'; crowds: number[]; orgSizes: number[] }
  | { table: 'feed'; sizes: number[] }
  | { table: 'client' }
  | { table: 'soak'; requests: number }
  | { table: 'workers'; workers: number };

export interface Options {
  mode: Mode;
  engine: 'mariadb' | 'sqlite';
  quick: boolean;
  serviceScript: string;
  /** whom the service is compared with; the baseline beside itself must come out at a ratio of 1 */
  opponent: 'baseline' | 'itself' | 'earlier build';
  opponentScript: string;
  /** whether the baseline records changes, as the service does */
  record: boolean;
  /** users in the database besides those who are measured */
  crowd: number;
  /** undefined: whichever a server chooses */
  hashEngine: HashEngine | undefined;
  outDirectory: string;
  plan: Plan;
}

const DEFAULT_SOAK = '1000000';
const DEFAULT_CROWDS = '1000,100000,1000000';
const DEFAULT_FEED_SIZES = '10000,1000000';
const DEFAULT_ORG_SIZES = '20,1000,100000';

export const BASELINE_SCRIPT = path('baseline/main.ts');

type Given = ReturnType<typeof parse>;

/** @throws Error that says which argument is wrong */
export function readOptions(args: string[]): Options {
  const given = parse(args);
  const { values } = given;
  const { engine } = values;
  if (engine !== 'mariadb' && engine !== 'sqlite') throw new Error('--engine is mariadb or sqlite');
  const hashEngine = HASH_ENGINES.find((name) => name === values['hash-engine']);
  if (values['hash-engine'] !== hashEngine) {
    throw new Error(`--hash-engine is ${HASH_ENGINES.join(' or ')}`);
  }
  const mode = readMode(given);
  if (values.before !== undefined && (mode.table !== 'baseline' || values.service === 'baseline')) {
    throw new Error('--before is for the service in the table beside the baseline');
  }
  if (mode.table !== 'baseline' && (engine !== 'mariadb' || values.service === 'baseline')) {
    throw new Error(`--${mode.table} is of the service on MariaDB only`);
  }
  return {
    mode,
    engine,
    quick: values.quick,
    ...readOpponent(values),
    serviceScript: values.service === 'baseline' ? BASELINE_SCRIPT : resolve(values.service),
    record: !values['no-record'],
    crowd: readCount('--users', values.users, 0),
    hashEngine,
    outDirectory: resolve(values.out),
    plan: values.quick ? QUICK : FULL,
  };
}

function parse(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      engine: { type: 'string', default: 'mariadb' },
      service: { type: 'string', default: path('../dist/main.js') },
      before: { type: 'string' },
      only: { type: 'string' },
      'no-record': { type: 'boolean', default: false },
      users: { type: 'string', default: '0' },
      'hash-engine': { type: 'string' },
      growth: { type: 'boolean', default: false },
      feed: { type: 'boolean', default: false },
      client: { type: 'boolean', default: false },
      sizes: { type: 'string' },
      'org-sizes': { type: 'string' },
      soak: { type: 'boolean', default: false },
      workers: { type: 'string' },
      out: { type: 'string', default: path('results') },
    },
  });
}

function readOpponent({ before, service }: Given['values']): Pick<Options, 'opponent' | 'opponentScript'> {
  if (before !== undefined) return { opponent: 'earlier build', opponentScript: resolve(before) };
  return { opponent: service === 'baseline' ? 'itself' : 'baseline', opponentScript: BASELINE_SCRIPT };
}

function readMode({ values, positionals }: Given): Mode {
  const { growth, feed, client, soak, workers, only } = values;
  const tables = [growth, feed, client, soak, workers !== undefined, only !== undefined];
  if (tables.filter(Boolean).length > 1) {
    throw new Error('--growth, --feed, --client, --soak, --workers and --only exclude each other');
  }
  const [requests, ...more] = positionals;
  const stray = soak ? more[0] : requests;
  if (stray !== undefined) throw new Error(`"${stray}" is no argument`);
  if (!growth && !feed && values.sizes !== undefined)
    throw new Error('--sizes belongs to --growth and --feed');
  if (!growth && values['org-sizes'] !== undefined) throw new Error('--org-sizes belongs to --growth');
  if ((growth || feed) && values.users !== '0')
    throw new Error('--growth and --feed take --sizes, not --users');

  if (growth) {
    return {
      table: 'growth',
      crowds: readSizes('--sizes', values.sizes ?? DEFAULT_CROWDS, 0),
      orgSizes: readSizes('--org-sizes', values['org-sizes'] ?? DEFAULT_ORG_SIZES, 20),
    };
  }
  if (feed)
    return { table: 'feed', sizes: readSizes('--sizes', values.sizes ?? DEFAULT_FEED_SIZES, FEED.backlog) };
  if (client) return { table: 'client' };
  if (soak) return { table: 'soak', requests: readCount('--soak', requests ?? DEFAULT_SOAK, 1000) };
  if (workers !== undefined) {
    const count = readCount('--workers', workers, 2);
    if (count > 128) throw new Error('--workers is 128 at most');
    return { table: 'workers', workers: count };
  }
  return { table: 'baseline', operations: selectOperations(only) };
}

function readCount(option: string, text: string, least: number): number {
  if (/^\d{1,8}$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`${option} is a whole number of at least ${least} and below a hundred million`);
}

/** The first is what the others are compared with. */
function readSizes(option: string, text: string, least: number): number[] {
  const sizes = text.split(',').map((size) => readCount(option, size, least));
  if (new Set(sizes).size < sizes.length) throw new Error(`${option} names one size twice`);
  return sizes;
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
