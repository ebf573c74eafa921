/** A batch is small enough that other work on SQLite does not wait for it. */
export const BATCH = 100;

export interface Batch {
  /** fewer than BATCH when the table has no more */
  examined: number;
  deleted: number;
}

/** @param found the ids of at most BATCH rows */
export async function deleteFound<Id>(
  found: readonly Id[],
  remove: (ids: readonly Id[]) => Promise<void>,
): Promise<Batch> {
  if (found.length > 0) await remove(found);
  return { examined: found.length, deleted: found.length };
}
