import { randomUUIDv7 } from 'node:crypto';

/** A clock that is set back by more than this was wrong, and ids with its time would be, too. */
const MAX_STEP_BACK_MS = 1000;

// Replaces 24 bits of UUIDv7s by a counter: each is greater than the one before, also within a millisecond and where the
// clock steps back. It begins in the lower half, and so does not overflow (RFC 9562 section 6.2, method 1).
export class OrderedIds {
  private millisecond = '';
  private counter = 0;

  next(random: string): string {
    const now = random.slice(0, 13);
    if (this.isLater(now)) {
      this.millisecond = now;
      this.counter = Number.parseInt(random.slice(15, 18) + random.slice(20, 23), 16) >> 1;
    } else {
      this.counter += 1;
    }
    const counter = this.counter.toString(16).padStart(6, '0');
    return `${this.millisecond}-7${counter.slice(0, 3)}-8${counter.slice(3)}${random.slice(23)}`;
  }

  private isLater(now: string): boolean {
    if (now === this.millisecond) return false;
    return now > this.millisecond || timeOf(this.millisecond) - timeOf(now) > MAX_STEP_BACK_MS;
  }
}

function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

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
