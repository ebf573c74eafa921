import type { OrgPosition } from '../events/events.repository.js';
import { isEntityId } from '../identifiers/entity-id.js';

/** Opaque to clients. Of a user's own record the revision is 0. */
export function encodeCursor({ orgRevision, id }: OrgPosition): string {
  return Buffer.from(`${orgRevision}.${id}`).toString('base64url');
}

/** undefined for whatever `encodeCursor` did not make */
export function decodeCursor(text: string): OrgPosition | undefined {
  const [revision = '', id, ...rest] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  if (!/^\d{1,10}$/.test(revision) || !isEntityId(id) || rest.length > 0) return undefined;
  return { orgRevision: Number(revision), id };
}
