import { decodeCursor, type Position } from './cursor.js';
import type { LinkNextPage } from './next-page.decorator.js';

export const DEFAULT_LIMIT = 100;

/** a query that has passed validation */
export interface PageQuery {
  limit?: string;
  cursor?: string;
}

export interface NextPage {
  nextCursor?: string;
}

export function limitOf({ limit }: PageQuery): number {
  return limit === undefined ? DEFAULT_LIMIT : Number(limit);
}

/** Returns undefined for the start of the list. */
export function positionOf({ cursor }: PageQuery): Position | undefined {
  return cursor === undefined ? undefined : decodeCursor(cursor);
}

/** @param rows the page, and one more row if there is one */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
  linkNextPage: LinkNextPage,
): { page: Row[]; next: NextPage } {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, next: linkNext(last && cursorOf(last), linkNextPage) };
}

/** Sets the header and returns the answer's `nextCursor`; neither on the last page. */
export function linkNext(nextCursor: string | undefined, linkNextPage: LinkNextPage): NextPage {
  if (nextCursor === undefined) return {};
  linkNextPage(nextCursor);
  return { nextCursor };
}
