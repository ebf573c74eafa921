export type Value = string | number | null;

/** Runs statements, on a connection of its own inside a transaction. */
export interface Db {
  /** The suffix of a locking read; empty where a transaction already holds the only write lock. */
  readonly forUpdate: '' | ' FOR UPDATE';
  query<Row>(sql: string, values: Value[]): Promise<Row[]>;
  /** Resolves to the number of rows that the statement matched. */
  run(sql: string, values: Value[]): Promise<number>;
}

export interface Database extends Db {
  /** Resolves after COMMIT. Work that lost a conflict is run again, so it must have no effect elsewhere. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export class DuplicateError extends Error {}
