import { isEntityId } from '../identifiers/entity-id.js';
import type { MemberCursor } from '../memberships/member-list.repository.js';

export function encodeCursor({ joinedAt, userId }: MemberCursor): string {
  return Buffer.from(`${joinedAt}.${userId}`).toString('base64url');
}

/** undefined for text that `encodeCursor` did not produce */
export function decodeCursor(text: string): MemberCursor | undefined {
  const [joinedAt = '', userId, ...rest] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  if (!/^\d{1,15}$/.test(joinedAt) || !isEntityId(userId) || rest.length > 0) return undefined;
  return { joinedAt: Number(joinedAt), userId };
}
