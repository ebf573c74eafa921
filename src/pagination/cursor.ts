import { isEntityId } from '../identifiers/entity-id.js';

/** A place in a list ordered by a whole number, such as a time, and then by id. Its row may be gone. */
export interface Position {
  order: number;
  id: string;
}

/** A place in a list ordered by a name and then by id. Its row may be gone. */
export interface NamedPosition {
  name: string;
  id: string;
}

const MAX_NAME_BYTES = 400;

/** printable ASCII, at most as long as an e-mail address */
const CURSOR_TEXT = /^:[!-~]{1,254}$/;

export function encodeCursor({ order, id }: Position): string {
  return Buffer.from(`${order}.${id}`).toString('base64url');
}

/** Returns undefined for text that `encodeCursor` did not produce. */
export function decodeCursor(text: string): Position | undefined {
  const [order = '', id, ...rest] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  if (!/^\d{1,15}$/.test(order) || !isEntityId(id) || rest.length > 0) return undefined;
  return { order: Number(order), id };
}

/** Encodes the last row's text, in a list that is ordered by a unique text. */
export function encodeTextCursor(text: string): string {
  return Buffer.from(`:${text}`).toString('base64url');
}

/** Returns undefined for text that `encodeTextCursor` did not produce. */
export function decodeTextCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  return CURSOR_TEXT.test(text) ? text.slice(1) : undefined;
}

export function encodeNameCursor({ name, id }: NamedPosition): string {
  return Buffer.from(`${id}/${name}`).toString('base64url');
}

/** Returns undefined for text that `encodeNameCursor` did not produce. */
export function decodeNameCursor(cursor: string): NamedPosition | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const id = text.slice(0, text.indexOf('/'));
  const name = text.slice(id.length + 1);
  const isName = name !== '' && Buffer.byteLength(name) <= MAX_NAME_BYTES && !/[\p{Cc}\uFFFD]/u.test(name);
  return isEntityId(id) && isName ? { name, id } : undefined;
}
