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

export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
