import { decodeCursor, type Position } from './cursor.js';
import type { LinkNextPage } from './next-page.decorator.js';

/** of a page whose query names none */
export const DEFAULT_LIMIT = 100;

/** Validated. */
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

/** undefined: from the start */
export function positionOf({ cursor }: PageQuery): Position | undefined {
  return cursor === undefined ? undefined : decodeCursor(cursor);
}

/** @param rows one more than the page, where there are more */
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

/** The member of the answer, besides the header; neither after the last page. */
export function linkNext(nextCursor: string | undefined, linkNextPage: LinkNextPage): NextPage {
  if (nextCursor === undefined) return {};
  linkNextPage(nextCursor);
  return { nextCursor };
}
