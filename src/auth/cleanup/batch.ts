/** so many rows are examined at once: few enough that nothing else waits for them, on SQLite too */
export const BATCH = 100;

/** What became of one batch of expired rows. */
export interface Batch {
  /** fewer than BATCH: these were the last */
  examined: number;
  deleted: number;
}
