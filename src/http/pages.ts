import type { FastifyInstance } from 'fastify';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isEntityId } from '../identifiers/entity-id.js';

export interface Position {
  order: number;
  id: string;
}

export const FROM_THE_START: Position = { order: 0, id: '' };

export interface NamedPosition {
  name: string;
  id: string;
}

const MAX_NAME_BYTES = 400;

const CURSOR_TEXT = /^:[!-~]{1,254}$/;

export function encodeCursor({ order, id }: Position): string {
  return Buffer.from(`${order}.${id}`).toString('base64url');
}

export function decodeCursor(text: string): Position | undefined {
  const [order = '', id, ...rest] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  if (!/^\d{1,15}$/.test(order) || !isEntityId(id) || rest.length > 0) return undefined;
  return { order: Number(order), id };
}

export function encodeTextCursor(text: string): string {
  return Buffer.from(`:${text}`).toString('base64url');
}

export function decodeTextCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  return CURSOR_TEXT.test(text) ? text.slice(1) : undefined;
}

export function encodeNameCursor({ name, id }: NamedPosition): string {
  return Buffer.from(`${id}/${name}`).toString('base64url');
}

export function decodeNameCursor(cursor: string): NamedPosition | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const id = text.slice(0, text.indexOf('/'));
  const name = text.slice(id.length + 1);
  const isName = name !== '' && Buffer.byteLength(name) <= MAX_NAME_BYTES && !/[\p{Cc}\uFFFD]/u.test(name);
  return isEntityId(id) && isName ? { name, id } : undefined;
}

export const DEFAULT_LIMIT = 100;

export interface PageQuery {
  limit?: string;
  cursor?: string;
}

export interface NextCursor {
  nextCursor?: string;
}

export function limitOf({ limit }: PageQuery): number {
  return limit === undefined ? DEFAULT_LIMIT : Number(limit);
}

export function positionOf({ cursor }: PageQuery): Position | undefined {
  return cursor === undefined ? undefined : decodeCursor(cursor);
}

export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { page: Row[]; next: NextCursor } {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, next: last ? { nextCursor: cursorOf(last) } : {} };
}

/** Adds the `Link` header (RFC 8288) to every page that is not the last. */
export function linkNextPages(fastify: FastifyInstance): void {
  fastify.addHook('preSerialization', (request, reply, page: NextCursor | null, done) => {
    if (page?.nextCursor !== undefined) {
      const url = new URL(request.url, 'http://localhost');
      url.searchParams.set('cursor', page.nextCursor);
      reply.header('Link', `<${url.pathname}${url.search}>; rel="next"`);
    }
    done(null, page);
  });
}

interface Filter<Row> {
  limit: number;
  /** rows of a read; by default `limit` */
  readSize?: number;
  isWanted: (row: Row) => boolean;
  isBeyond?: (row: Row) => boolean;
}

const MAX_READS = 5;

/** No index finds the wanted rows, so a search for rare rows stops after MAX_READS with a short page. */
export async function filteredPage<Row>(
  { limit, readSize = limit, isWanted, isBeyond = () => false }: Filter<Row>,
  read: (size: number, after: Row | undefined) => Promise<Row[]>,
): Promise<{ rows: Row[]; last?: Row }> {
  const wanted: Row[] = [];
  let last: Row | undefined;
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const rows = await read(readSize + 1, last);
    for (const row of rows.slice(0, readSize)) {
      last = row;
      if (isBeyond(row)) return { rows: wanted };
      if (isWanted(row)) wanted.push(row);
      if (wanted.length === limit) break;
    }
    const isLast = rows.length <= readSize && (rows.length === 0 || last === rows.at(-1));
    if (isLast || wanted.length === limit) return isLast ? { rows: wanted } : { rows: wanted, last: last! };
    await yieldToEventLoop();
  }
  return last === undefined ? { rows: wanted } : { rows: wanted, last };
}
