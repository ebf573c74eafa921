import { randomUUIDv7 } from 'node:crypto';

const ENTITY_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const latest = { millisecond: '', counter: 0 };

/** UUIDv7, ordered by time and by a counter within a millisecond (RFC 9562): new rows go to the end of an index. */
export function newEntityId(): string {
  const random = randomUUIDv7();
  const millisecond = random.slice(0, 13);
  latest.counter = millisecond === latest.millisecond ? latest.counter + 1 : beginningIn(random);
  latest.millisecond = millisecond;
  const counter = latest.counter.toString(16).padStart(6, '0');
  return `${millisecond}-7${counter.slice(0, 3)}-8${counter.slice(3)}${random.slice(23)}`;
}

/** Counts from the lower half, so that 24 bits suffice for a millisecond (section 6.2, method 1). */
function beginningIn(random: string): number {
  return Number.parseInt(random.slice(15, 18) + random.slice(20, 23), 16) >> 1;
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
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
