import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import type { Environment } from '../../support/service-process.js';

const HOOK = resolve(import.meta.dirname, 'stop-at-statement.mjs');

/** Has an instance stop itself before a statement; the directory is that of the instance. */
export class StopAtStatement {
  readonly env: Environment;
  private readonly file: string;

  constructor(directory: string) {
    this.file = join(directory, 'stop-before');
    this.env = { NODE_OPTIONS: `--import=${HOOK}`, STOP_FILE: this.file };
  }

  /** Before the next statement that contains this text. */
  arm(text: string): void {
    writeFileSync(`${this.file}.new`, text);
    renameSync(`${this.file}.new`, this.file);
  }

  /** Until the process has stopped where it was told to. */
  async stopped(pid: number): Promise<void> {
    await waitFor('the process has stopped', hangTimeoutMs(), () => !existsSync(this.file) && isStopped(pid));
  }
}

function isStopped(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return status.slice(status.lastIndexOf(')') + 2).startsWith('T');
}
