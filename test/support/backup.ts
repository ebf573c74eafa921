import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '../../tooling/processes/find-program.js';
import { accountsJson } from './accounts-command.js';
import type { Installation } from './installation.js';

let backups = 0;

/** As docs/recovery.md describes it; can run beside the service. @returns what restores it */
export async function backUp(installation: Installation): Promise<() => Promise<void>> {
  const file = join(installation.directory, `backup-${(backups += 1)}`);
  await accountsJson(installation, ['backup', file]);
  return () => restore(installation, file);
}

/** No process of the service may be running. */
export async function restore({ db }: Installation, file: string): Promise<void> {
  await db.empty();
  if (db.url.startsWith('sqlite:')) copyFileSync(file, db.url.replace('sqlite:', ''));
  else await load(db.url, file);
}

/** Runs the statements of a file. */
export async function load(url: string, file: string): Promise<void> {
  const { hostname, port, username, pathname } = new URL(url);
  const place = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`, pathname.slice(1)];
  const input = openSync(file, 'r');
  const client = spawn(requireProgram('mariadb'), ['--no-defaults', ...place], {
    stdio: [input, 'ignore', 'inherit'],
  });
  const [code] = (await once(client, 'close')) as [number | null];
  closeSync(input);
  if (code !== 0) throw new Error(`mariadb ended with ${code}`);
}
