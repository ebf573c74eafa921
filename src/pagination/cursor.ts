import { isEntityId } from '../identifiers/entity-id.js';

/** A place in a list that is ordered by a whole number, such as a time, and then by id. It need not exist any more. */
export interface Position {
  order: number;
  id: string;
}

/** As long as an e-mail may be; printable ASCII. */
const CURSOR_TEXT = /^:[!-~]{1,254}$/;

/** Opaque to clients. */
export function encodeCursor({ order, id }: Position): string {
  return Buffer.from(`${order}.${id}`).toString('base64url');
}

/** undefined for text that `encodeCursor` did not produce */
export function decodeCursor(text: string): Position | undefined {
  const [order = '', id, ...rest] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  if (!/^\d{1,15}$/.test(order) || !isEntityId(id) || rest.length > 0) return undefined;
  return { order: Number(order), id };
}

/** For a list that is ordered by a text that is unique in it: the one of the last row. Opaque to clients. */
export function encodeTextCursor(text: string): string {
  return Buffer.from(`:${text}`).toString('base64url');
}

/** undefined for text that `encodeTextCursor` did not produce */
export function decodeTextCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  return CURSOR_TEXT.test(text) ? text.slice(1) : undefined;
}
