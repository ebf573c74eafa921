const REPEATED_AFTER_MS = 60_000;
const CAUSES = 1_000;

/** Writes JSON lines with the fields of the log of Accounts to standard output. */
export class Log {
  private readonly lastAt = new Map<string, number>();

  constructor() {
    // A full disk or a reader that has gone costs lines, and not the process.
    process.stdout.on('error', () => undefined);
  }

  info = (msg: string, more: object = {}): void => this.write(30, msg, more);
  warn = (msg: string, more: object = {}): void => this.write(40, msg, more);

  /** Writes a warning of one kind at most once a minute. */
  warnOnce(kind: string, msg: string): void {
    const now = performance.now();
    if (now - (this.lastAt.get(kind) ?? Number.NEGATIVE_INFINITY) < REPEATED_AFTER_MS) return;
    if (this.lastAt.size >= CAUSES) this.lastAt.clear();
    this.lastAt.set(kind, now);
    this.warn(msg);
  }

  private write(level: number, msg: string, more: object): void {
    process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), msg, ...more })}\n`);
  }
}
