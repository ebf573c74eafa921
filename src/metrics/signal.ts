/** Tells one listener, at once, what happens. Without one it costs nothing. */
export class Signal<T> {
  private listener: ((value: T) => void) | undefined;

  /** Whether anybody wants to know, where it takes work to say. */
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
      // Whoever counts changes no answer.
    }
  }
}

/** A number of things as they are when somebody asks. */
export class Reading<T> {
  constructor(private source: () => T) {}

  get current(): T {
    return this.source();
  }

  /** The last one counts: a process has one of each. */
  provide(source: () => T): void {
    this.source = source;
  }
}
