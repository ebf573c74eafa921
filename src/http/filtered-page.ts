import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

export interface FilteredPage<Row> {
  rows: Row[];
  /** the last row examined, if there may be more */
  last?: Row;
}

interface Filter<Row> {
  limit: number;
  isWanted: (row: Row) => boolean;
  /** whether nothing after this row is wanted, in a list whose order tells */
  isBeyond?: (row: Row) => boolean;
}

/** Reads per page of the answer: no index finds what is wanted, so a page costs at most this many others. */
const MAX_READS = 5;

/** A search for what is rare stops after MAX_READS: its page is short, and the next one continues from there. */
export async function filteredPage<Row>(
  { limit, isWanted, isBeyond = () => false }: Filter<Row>,
  read: (size: number, after: Row | undefined) => Promise<Row[]>,
): Promise<FilteredPage<Row>> {
  const wanted: Row[] = [];
  let last: Row | undefined;
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const rows = await read(limit + 1, last);
    for (const row of rows.slice(0, limit)) {
      last = row;
      if (isBeyond(row)) return { rows: wanted };
      if (isWanted(row)) wanted.push(row);
      if (wanted.length === limit) break;
    }
    const isLast = rows.length <= limit && (rows.length === 0 || last === rows.at(-1));
    if (isLast || wanted.length === limit) return isLast ? { rows: wanted } : { rows: wanted, last: last! };
    // On SQLite nothing else would get a turn.
    await yieldToEventLoop();
  }
  return last === undefined ? { rows: wanted } : { rows: wanted, last };
}
