import { expect } from 'vitest';
import type { Caller } from './caller.js';

/** Follows the links from the first page to the last, and checks that `nextCursor` and the Link header agree. */
export async function pagesOf<Row>(
  by: Caller,
  path: string,
  list: string,
  between?: (page: number) => Promise<unknown>,
): Promise<Row[][]> {
  const pages: Row[][] = [];
  for (let at = path; ;) {
    const { status, body, headers, text } = await by.get<Record<string, Row[]>>(at);
    const { nextCursor } = body as { nextCursor?: string };
    expect(status, text).toBe(200);
    pages.push(body[list]!);
    const next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    expect(next === undefined).toBe(nextCursor === undefined);
    if (next === undefined) return pages;
    expect(next).toContain(`cursor=${nextCursor}`);
    at = next;
    await between?.(pages.length - 1);
  }
}
