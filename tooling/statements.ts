import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ENGINES = ['sqlite', 'mysql'] as const;
export type StatementEngine = (typeof ENGINES)[number];

const ROOT = resolve(import.meta.dirname, '..');
const SENT = join(ROOT, 'node_modules/.cache/statements');

const DATA = /^(?:DELETE|INSERT|SELECT|UPDATE|WITH) /;
/** What migrations, TypeORM and the doctor ask about the schema. */
const OF_THE_SCHEMA = /\b(?:migrations|migrations_lease|sqlite_master|information_schema)\b|version\(\)/i;

const noted = new Set<string>();

/** Keeps the statement in a file of its own, because many processes send statements, and some are killed. */
export function noteSent(engine: StatementEngine, sql: string): void {
  if (noted.has(engine + sql)) return;
  noted.add(engine + sql);
  const statement = normalized(sql);
  if (!DATA.test(statement) || OF_THE_SCHEMA.test(statement)) return;
  mkdirSync(join(SENT, engine), { recursive: true });
  writeFileSync(fileOf(engine, statement), statement);
}

/** Statements that differ only in the number of their keys, rows and results are one. */
export function normalized(sql: string): string {
  return (
    sql
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\( | (?=\))/g, (space) => space.trim())
      .trim()
      // TypeORM writes numbers into its statements for SQLite.
      .replaceAll(/(["`] (?:[<>]=?|=|<>) )\d+/g, '$1?')
      .replaceAll(/\bIN \((?:\?|\d+)(?:, ?(?:\?|\d+))*\)/g, 'IN (?)')
      .replaceAll(/\bVALUES (\([^()]*\))(?:, ?\([^()]*\))*/g, 'VALUES (?)')
      .replaceAll(/(\([^()]*\))(?: OR \1)+/g, '$1')
      .replaceAll(/( UNION ALL SELECT \?(?:, \?)*)\1+/g, '$1')
      .replaceAll(/\b(LIMIT|OFFSET) (?!1\b)\d+/g, '$1 ?')
  );
}

const nameOf = (statement: string): string => createHash('sha1').update(statement).digest('hex');

function fileOf(engine: StatementEngine, statement: string): string {
  return join(SENT, engine, nameOf(statement));
}

const listOf = (engine: StatementEngine): string => join(ROOT, `src/database/statements.${engine}.txt`);

/** The lines of the list by their statement. */
export function readList(engine: StatementEngine): Map<string, string> {
  const lines = readFileSync(listOf(engine), 'utf8').split('\n');
  return new Map(lines.filter(Boolean).map((line) => [line.split(' -- ')[0]!, line]));
}

/** What the tests sent and the list lacks. */
export function unlisted(engine: StatementEngine): string[] {
  return unlistedFiles(engine).map((file) => readFileSync(file, 'utf8'));
}

/** At the start of a run, so that no statement of an earlier version of the source is left. */
export function forgetUnlisted(): void {
  for (const file of ENGINES.flatMap(unlistedFiles)) rmSync(file, { force: true });
}

function unlistedFiles(engine: StatementEngine): string[] {
  const folder = join(SENT, engine);
  if (!existsSync(folder)) return [];
  const listed = new Set([...readList(engine).keys()].map(nameOf));
  const names = readdirSync(folder).filter((name) => !listed.has(name));
  return names.map((name) => join(folder, name));
}

/** What the list has and no test sent since node_modules/.cache/statements was deleted. */
export function unsent(engine: StatementEngine): string[] {
  return [...readList(engine).keys()].filter((statement) => !existsSync(fileOf(engine, statement)));
}

export function addToList(engine: StatementEngine, statements: readonly string[]): void {
  const lines = [...readList(engine).values(), ...statements];
  writeFileSync(
    listOf(engine),
    lines
      .toSorted()
      .map((line) => `${line}\n`)
      .join(''),
  );
}
