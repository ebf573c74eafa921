import { writeSync } from 'node:fs';

const STDOUT = 1;
const REPEATED_AFTER_MS = 60_000;
const KINDS = 1_000;

/** Writes JSON lines with the fields of the log of Accounts to standard output. */
export class Log {
  private readonly lastAt = new Map<string, number>();

  info(msg: string, more: object = {}): void {
    write(30, msg, more);
  }

  warn(msg: string): void {
    write(40, msg);
  }

  /** Writes a warning of one kind at most once a minute. */
  warnOnce(kind: string, msg: string): void {
    const now = performance.now();
    if (now - (this.lastAt.get(kind) ?? Number.NEGATIVE_INFINITY) < REPEATED_AFTER_MS) return;
    if (this.lastAt.size >= KINDS) this.lastAt.clear();
    this.lastAt.set(kind, now);
    this.warn(msg);
  }
}

/** A full disk or a reader that has gone costs lines, and not the process. `process.stdout` would write no more after an error. */
function write(level: number, msg: string, more: object = {}): void {
  try {
    writeSync(STDOUT, `${JSON.stringify({ level, time: new Date().toISOString(), msg, ...more })}\n`);
  } catch {
    // There is no other place for it.
  }
}
