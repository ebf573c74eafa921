import type { ObjectLiteral, Repository } from 'typeorm';
import { BatchedQueries, MAX_BATCH_SIZE } from './batched-queries.js';
import { hotStatement } from './hot-statements.js';
import type { Transaction } from './transactions/transaction.js';

interface Keyed<Key, Row> {
  values: (keys: readonly Key[]) => unknown[];
  keyText: (key: Key) => string;
  rowText: (row: Row) => string;
  /** a key that matches nothing, for padding */
  absentKey: Key;
}

interface LookupStatement<Key, Row> extends Keyed<Key, Row> {
  sql: (size: number) => string;
}

export function byColumn<Column extends string>(column: Column): Keyed<string, Record<Column, string>> {
  return {
    values: (keys) => [...keys],
    keyText: (key) => key,
    rowText: (row) => row[column],
    absentKey: '',
  };
}

export function byColumns<Column extends string>(
  ...columns: Column[]
): Keyed<Record<Column, string>, Record<Column, string>> {
  const valuesOf = (of: Record<Column, string>): string[] => columns.map((column) => of[column]);
  const textOf = (of: Record<Column, string>): string => valuesOf(of).join(' ');
  return {
    values: (keys) => keys.flatMap(valuesOf),
    keyText: textOf,
    rowText: textOf,
    absentKey: Object.fromEntries(columns.map((column) => [column, ''])) as Record<Column, string>,
  };
}

/** Registers a hot statement, and caches the SQL of each size: building it takes longer than sending it. */
export function lookupStatement<Key, Row>(
  name: string,
  statement: LookupStatement<Key, Row>,
): LookupStatement<Key, Row> {
  const written: string[] = [];
  const sql = (size: number): string => (written[size] ??= statement.sql(size));
  hotStatement(name, sql(2), statement.values([statement.absentKey, statement.absentKey]));
  return { ...statement, sql };
}

const MAX_ROWS = 2000;

/** Answers concurrent lookups with one query. Nothing is cached: each key is read after it was asked for. */
export class Lookup<Key, Row extends object> {
  private readonly batches = new BatchedQueries<Key, Row[]>(
    (keys) => this.findEach(keys),
    () => Math.max(1, Math.min(MAX_BATCH_SIZE, Math.floor(MAX_ROWS / this.rowsPerKey))),
  );
  /** rows per key in the last answer, as an estimate for the next */
  private rowsPerKey = 1;

  constructor(
    private readonly statement: LookupStatement<Key, Row>,
    private readonly repository: Repository<ObjectLiteral>,
  ) {}

  async find(key: Key): Promise<Row | undefined> {
    return (await this.batches.run(key))[0];
  }

  /** Locks the row that it finds until COMMIT. */
  async findIn(transaction: Transaction, key: Key): Promise<Row | undefined> {
    const { sql, values } = this.statement;
    return (await transaction.read<Row>(sql(1) + transaction.forUpdate, values([key])))[0];
  }

  private async findEach(keys: Key[]): Promise<Row[][]> {
    const { keyText, rowText, sql, values, absentKey } = this.statement;
    const distinct: Key[] = [];
    const byKey = new Map<string, Row[]>();
    const answers = keys.map((key) => {
      const text = keyText(key);
      const asked = byKey.get(text);
      if (asked) return asked;
      const answer: Row[] = [];
      byKey.set(text, answer);
      distinct.push(key);
      return answer;
    });
    const asked = padded(distinct, absentKey);
    const rows = await this.repository.query<Row[]>(sql(asked.length), values(asked));
    this.rowsPerKey = Math.max(1, rows.length / distinct.length);
    for (const row of rows) byKey.get(rowText(row))?.push(row);
    return answers;
  }
}

export function places(size: number): string {
  return Array(size).fill('?').join(', ');
}

// Makes keys of several columns a table, `k`, to join with. It is planned once, while a UNION of queries, one for each
// key, took three times the CPU for eight keys. `like`, a SELECT of the columns, finds nothing but gives them its
// character set: with that of the connection a join could not use an index.
export function keyTable(like: string, columns: number, size: number): string {
  return `(${like} WHERE id = ''${` UNION ALL SELECT ${places(columns)}`.repeat(size)}) k`;
}

/** Pads to a power of two: engines and drivers keep prepared statements, so there should be few. */
export function padded<Key>(keys: readonly Key[], absentKey: Key): Key[] {
  const size = 2 ** Math.ceil(Math.log2(keys.length));
  return [...keys, ...Array<Key>(size - keys.length).fill(absentKey)];
}
