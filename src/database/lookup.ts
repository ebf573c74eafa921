import type { ObjectLiteral, Repository } from 'typeorm';
import { BatchedQueries, MAX_BATCH_SIZE } from './batched-queries.js';
import { hotStatement } from './hot-statements.js';
import type { Transaction } from './transaction.js';

/** One question that many requests ask at the same time, each with a key of its own. */
export interface LookupStatement<Key, Row> {
  /** SQL for so many keys */
  sql: (size: number) => string;
  values: (keys: readonly Key[]) => unknown[];
  /** text that tells keys apart */
  keyText: (key: Key) => string;
  /** the text of the key that a row answers */
  rowText: (row: Row) => string;
  /** a key that finds nothing, to fill up with */
  nobody: Key;
}

/** Registers the statement as a hot one. Each size is written once: it takes longer to write than to send. */
export function lookupStatement<Key, Row>(
  name: string,
  statement: LookupStatement<Key, Row>,
): LookupStatement<Key, Row> {
  const written: string[] = [];
  const sql = (size: number): string => (written[size] ??= statement.sql(size));
  hotStatement(name, sql(2), statement.values([statement.nobody, statement.nobody]));
  return { ...statement, sql };
}

/** so many rows one query for several keys may bring */
const MAX_ROWS = 2000;

/** Answers simultaneous look-ups by one query. Nothing is remembered: what is asked is read after it was asked. */
export class Lookup<Key, Row extends object> {
  private readonly batches = new BatchedQueries<Key, Row[]>(
    (keys) => this.findEach(keys),
    () => Math.max(1, Math.min(MAX_BATCH_SIZE, Math.floor(MAX_ROWS / this.rowsPerKey))),
  );
  /** in the last answer: what those who ask next probably have in common with those who asked before */
  private rowsPerKey = 1;

  constructor(
    private readonly statement: LookupStatement<Key, Row>,
    private readonly repository: Repository<ObjectLiteral>,
  ) {}

  async find(key: Key): Promise<Row | undefined> {
    return (await this.batches.run(key))[0];
  }

  /** Inside a transaction, where what is found stays as it is until COMMIT. */
  async findIn(transaction: Transaction, key: Key): Promise<Row | undefined> {
    const { sql, values } = this.statement;
    return (await transaction.read<Row>(sql(1) + transaction.forUpdate, values([key])))[0];
  }

  /** In the order of the statement. */
  findAll(key: Key): Promise<Row[]> {
    return this.batches.run(key);
  }

  private async findEach(keys: Key[]): Promise<Row[][]> {
    const { keyText, rowText, sql, values, nobody } = this.statement;
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
    const asked = padded(distinct, nobody);
    const rows = await this.repository.query<Row[]>(sql(asked.length), values(asked));
    this.rowsPerKey = Math.max(1, rows.length / distinct.length);
    for (const row of rows) byKey.get(rowText(row))?.push(row);
    return answers;
  }
}

/** `?, ?, ?` */
export function places(size: number): string {
  return Array(size).fill('?').join(', ');
}

/** To a power of two, so that there are few statements, which engines and drivers keep prepared. */
export function padded<Key>(keys: readonly Key[], nobody: Key): Key[] {
  const size = 2 ** Math.ceil(Math.log2(keys.length));
  return [...keys, ...Array<Key>(size - keys.length).fill(nobody)];
}
