import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { accountsJson } from '../../support/accounts-command.js';
import type { Storage } from './deployment.js';

/** A backup as docs/operations.md describes it. */
export class Backup {
  private readonly file: string;

  private constructor(private readonly storage: Storage) {
    this.file = join(storage.installation.directory, 'backup');
  }

  /** Can run beside the service. */
  static async of(storage: Storage): Promise<Backup> {
    const backup = new Backup(storage);
    if (storage.isServer) await backup.run('mariadb-dump', ['--single-transaction'], 'w');
    else await accountsJson(storage.installation, ['backup', backup.file]);
    return backup;
  }

  /** No process of the service may be running. */
  async restore(): Promise<void> {
    const { db } = this.storage.installation;
    await db.empty();
    if (this.storage.isServer) await this.run('mariadb', [], 'r');
    else copyFileSync(this.file, db.url.replace('sqlite:', ''));
  }

  private async run(program: string, options: readonly string[], flags: 'r' | 'w'): Promise<void> {
    const { hostname, port, username, pathname } = new URL(this.storage.installation.db.url);
    const place = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`, pathname.slice(1)];
    const file = openSync(this.file, flags);
    try {
      const stdio = flags === 'w' ? ['ignore', file, 'inherit'] : [file, 'ignore', 'inherit'];
      const child = spawn(requireProgram(program), ['--no-defaults', ...options, ...place], {
        stdio: stdio as ('ignore' | 'inherit' | number)[],
      });
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(`${program} ended with ${code}`);
    } finally {
      closeSync(file);
    }
  }
}
