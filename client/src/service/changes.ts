/** The feed has told of it, about a user, a session or an organization. */
export interface Change {
  position: number;
  /** The session has ended. */
  ended?: true;
  /** Tokens of the user with a lower one have ended, but for those of the session `except`. */
  epoch?: number | undefined;
  except?: string | undefined;
}

/**
 * Tells whether something that was read is still true: it is void once the feed has told of a change of what it is about.
 * Positions count changes; a reader notes the position before.
 */
export class Changes {
  private readonly latest = new Map<string, Change>();
  private readonly limit: number;
  private current = 0;
  /** Everything read before this position is void. */
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

  note(subject: string, told: Omit<Change, 'position'> = {}): void {
    this.current += 1;
    const known = this.latest.get(subject);
    const { epoch, except } = known && (told.epoch ?? -1) < (known.epoch ?? -1) ? known : told;
    const change = { ...known, ...told, epoch, except, position: this.current };
    this.latest.delete(subject);
    this.latest.set(subject, change);
    if (this.latest.size > this.limit) this.forgetOldest();
  }

  /** After a gap, in which anything may have changed. */
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
