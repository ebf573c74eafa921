/** A change of a user, a session or an organization, which the feed has reported. */
export interface Change {
  position: number;
  /** The session ended. */
  ended?: true;
  /** Tokens of the user with a lower epoch have ended, except those of the session `except`. */
  epoch?: number | undefined;
  except?: string | undefined;
}

/**
 * Decides whether data that was read is still current: a change of its subject that the feed reports makes it void.
 * Positions count changes. A reader keeps the position from before its read.
 */
export class Changes {
  private readonly latest = new Map<string, Change>();
  private readonly limit: number;
  private current = 0;
  /** Data that was read before this position is void. */
  private floor = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get position(): number {
    return this.current;
  }

  find(subject: string): Change | undefined {
    return this.latest.get(subject);
  }

  note(subject: string, reported: Omit<Change, 'position'> = {}): void {
    this.current += 1;
    const known = this.latest.get(subject);
    const { epoch, except } = known && (reported.epoch ?? -1) < (known.epoch ?? -1) ? known : reported;
    const change = { ...known, ...reported, epoch, except, position: this.current };
    this.latest.delete(subject);
    this.latest.set(subject, change);
    if (this.latest.size > this.limit) this.forgetOldest();
  }

  /** Call it after a gap, in which any data may have changed. */
  noteAll(): void {
    this.current += 1;
    this.floor = this.current;
    this.latest.clear();
  }

  isVoid(readAt: number, ...subjects: string[]): boolean {
    if (readAt < this.floor) return true;
    return subjects.some((subject) => (this.latest.get(subject)?.position ?? 0) > readAt);
  }

  private forgetOldest(): void {
    for (const [subject, { position }] of this.latest) {
      this.latest.delete(subject);
      this.floor = Math.max(this.floor, position);
      return;
    }
  }
}
