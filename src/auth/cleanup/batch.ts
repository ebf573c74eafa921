/** Small enough that other work on SQLite does not wait for it. */
export const BATCH = 100;

export interface Batch {
  /** fewer than BATCH: the table has no more */
  examined: number;
  deleted: number;
}
