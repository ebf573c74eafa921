import { isEntityId } from '../identifiers/entity-id.js';

/** A place in a list that is ordered by a whole number, such as a time, and then by id. It need not exist any more. */
export interface Position {
  order: number;
  id: string;
}

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
