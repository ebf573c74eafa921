import { randomUUIDv7 } from 'node:crypto';
import { OrderedIds, timeOf } from './ordered-ids.js';

const ENTITY_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const ids = new OrderedIds();

/** UUIDv7 (RFC 9562 section 5.7): rows go to the end of an index, in the order in which a process makes them. */
export function newEntityId(): string {
  return ids.next(randomUUIDv7());
}

/** Imported rows may have any version of UUID (RFC 9562 section 4). */
export function isEntityId(text: unknown): text is string {
  return typeof text === 'string' && ENTITY_ID.test(text);
}

/** No id that `newEntityId` makes at this time (epoch milliseconds) or later is less. */
export function firstEntityIdAt(time: number): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** @returns epoch milliseconds at which `newEntityId` made the id */
export function timeOfEntityId(id: string): number {
  return timeOf(id);
}
