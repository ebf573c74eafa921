/** A batch is small enough that other work on SQLite does not wait for it. */
export const BATCH = 100;

export interface Batch {
  /** fewer than BATCH when the table has no more */
  examined: number;
  deleted: number;
}
