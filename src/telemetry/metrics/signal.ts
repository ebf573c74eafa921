/** Passes what happens to one listener, at once. Without a listener it costs nothing. */
export class Signal<T> {
  private listener: ((value: T) => void) | undefined;

  /** Check it before work that only the listener needs. */
  get isHeard(): boolean {
    return this.listener !== undefined;
  }

  listen(listener: (value: T) => void): void {
    this.listener = listener;
  }

  emit(value: T): void {
    try {
      this.listener?.(value);
    } catch {
      // A listener that fails must change no answer.
    }
  }
}

export class Reading<T> {
  constructor(private source: () => T) {}

  get current(): T {
    return this.source();
  }

  /** Replaces the source, since a process has one of each. */
  provide(source: () => T): void {
    this.source = source;
  }
}
