import { hash, randomUUIDv7 } from 'node:crypto';

const MAX_STEP_BACK_MS = 1000;

// A counter of 24 bits keeps ids ascending within a millisecond and when the clock steps back by up to a second. It begins
// in the lower half, so that it does not overflow (RFC 9562 section 6.2, method 1).
export class OrderedIds {
  private millisecond = '';
  private counter = 0;

  next(random: string): string {
    const now = random.slice(0, 13);
    const stepBackMs = timeOfEntityId(this.millisecond) - timeOfEntityId(now);
    if (now > this.millisecond || stepBackMs > MAX_STEP_BACK_MS) {
      this.millisecond = now;
      this.counter = Number.parseInt(random.slice(15, 18) + random.slice(20, 23), 16) >> 1;
    } else {
      this.counter += 1;
    }
    const counter = this.counter.toString(16).padStart(6, '0');
    return `${this.millisecond}-7${counter.slice(0, 3)}-8${counter.slice(3)}${random.slice(23)}`;
  }
}

export function timeOfEntityId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const ENTITY_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const ids = new OrderedIds();

/** UUIDv7 (RFC 9562 section 5.7), so that new rows go to the end of an index. */
export function newEntityId(): string {
  return ids.next(randomUUIDv7());
}

const NAMESPACE = Buffer.from('a3d4c1f05e0b4c5f9d6b7f1c2e8a9b40', 'hex');

/** UUIDv5 (RFC 9562 section 5.5): one name has one id, in every run of an import. */
export function entityIdFor(name: string): string {
  const digest = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]), 'buffer');
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Imported rows may have any version of UUID (RFC 9562 section 4). */
export function isEntityId(text: unknown): text is string {
  return typeof text === 'string' && ENTITY_ID.test(text);
}

/** Returns the least id that `newEntityId` can return at this time (epoch milliseconds) or later. */
export function firstEntityIdAt(time: number): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
