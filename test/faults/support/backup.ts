import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../../../tooling/processes/find-program.js';
import { accountsJson } from '../../support/accounts-command.js';
import type { Storage } from './deployment.js';

/** A backup as docs/operate.md describes it; can run beside the service. @returns what restores it */
export async function backUp({ installation, isServer }: Storage): Promise<() => Promise<void>> {
  const { db, directory } = installation;
  const file = join(directory, 'backup');
  const run = async (program: string, options: string[], flags: 'r' | 'w'): Promise<void> => {
    const { hostname, port, username, pathname } = new URL(db.url);
    const place = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`, pathname.slice(1)];
    const args = ['--no-defaults', ...options, ...place];
    const fd = openSync(file, flags);
    const child = spawn(requireProgram(program), args, {
      stdio: flags === 'w' ? ['ignore', fd, 'inherit'] : [fd, 'ignore', 'inherit'],
    });
    const [code] = (await once(child, 'close')) as [number | null];
    closeSync(fd);
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
  };
  if (isServer) await run('mariadb-dump', ['--single-transaction'], 'w');
  else await accountsJson(installation, ['backup', file]);
  // No process of the service may be running.
  return async () => {
    await db.empty();
    if (isServer) await run('mariadb', [], 'r');
    else copyFileSync(file, db.url.replace('sqlite:', ''));
  };
}
