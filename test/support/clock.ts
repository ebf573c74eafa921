import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';

/** For `NODE_OPTIONS` of one instance: its clock is ahead of all others, or behind by a negative time. */
export function aheadBy(ms: number): string {
  return optionOf(String(ms));
}

/** A clock for any number of processes, which a test moves on while they run: each look at the time reads a file. */
export class MovableClock {
  private readonly path = join(temporaryDirectory('clock'), 'ahead');
  private aheadMs = 0;

  constructor() {
    this.moveOn(0);
  }

  /** for `NODE_OPTIONS` */
  get option(): string {
    return optionOf(`Number(readFileSync(${JSON.stringify(this.path)}, 'utf8'))`);
  }

  get ahead(): number {
    return this.aheadMs;
  }

  moveOn(ms: number): void {
    this.aheadMs += ms;
    const next = `${this.path}.next`;
    writeFileSync(next, String(this.aheadMs));
    renameSync(next, this.path);
  }
}

/** @param ahead an expression for milliseconds */
function optionOf(ahead: string): string {
  // Node makes ids by a clock of its own, which `Date.now` does not change.
  const source = `import crypto from 'node:crypto';
    import { readFileSync } from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const ahead = () => ${ahead};
    const { now } = Date;
    Date.now = () => now() + ahead();
    const { randomUUIDv7 } = crypto;
    crypto.randomUUIDv7 = () => {
      const id = randomUUIDv7();
      const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) + ahead();
      const hex = time.toString(16).padStart(12, '0');
      return hex.slice(0, 8) + '-' + hex.slice(8) + id.slice(13);
    };
    syncBuiltinESMExports();`;
  return `--import=data:text/javascript,${encodeURIComponent(source)}`;
}
