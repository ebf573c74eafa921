import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { hangTimeoutMs, waitFor } from '../../../tooling/wait.js';
import type { Environment } from '../../support/service-process.js';
import { type RestartableService, startAt, type Storage, UNLIMITED } from './deployment.js';

const HOOK = resolve(import.meta.dirname, 'stop-at-statement.mjs');

/** An instance, until the test ends, that can be made to stop itself before a statement. */
export class StoppableService {
  private constructor(
    readonly process: RestartableService,
    private readonly file: string,
  ) {}

  static async on(storage: Storage, more: Environment = {}): Promise<StoppableService> {
    const file = join(temporaryDirectory('stop'), 'stop-before');
    const env = { ...UNLIMITED, ...more, NODE_OPTIONS: `--import=${HOOK}`, STOP_FILE: file };
    return new StoppableService(await startAt(storage, env), file);
  }

  stopBefore(text: string): void {
    writeFileSync(`${this.file}.new`, text);
    renameSync(`${this.file}.new`, this.file);
  }

  async untilStopped(): Promise<void> {
    await waitFor('the process has stopped', hangTimeoutMs(), () => {
      const status = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8');
      return !existsSync(this.file) && status.slice(status.lastIndexOf(')') + 2).startsWith('T');
    });
  }

  /**
   * Writes events until the service has stopped itself in a round.
   *
   * @param isAlone otherwise another instance may number first
   */
  async stopInARound(text: string, write: () => Promise<unknown>, isAlone = false): Promise<void> {
    this.stopBefore(text);
    const writing = isAlone ? undefined : setInterval(() => void write(), 300);
    await write();
    try {
      await this.untilStopped();
    } finally {
      clearInterval(writing);
    }
  }
}
