import { execFile } from 'node:child_process';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../processes/at-exit.ts';
import { requireProgram } from '../processes/find-program.ts';

const run = promisify(execFile);

/** The user a server runs as; undefined: the user of this process. */
export interface RunAs {
  uid: number;
  gid: number;
}

let template: Promise<string> | undefined;

/** Fills `directory/data` with an empty data directory. Only the first one of a process is made, the others are copies. */
export async function createDataDirectory(directory: string, runAs?: RunAs): Promise<void> {
  template ??= makeTemplate();
  await run('cp', ['-R', join(await template, 'data'), join(directory, 'data')]);
  if (!runAs) return;
  chownSync(directory, runAs.uid, runAs.gid);
  await run('chown', ['-R', `${runAs.uid}:${runAs.gid}`, join(directory, 'data')]);
}

async function makeTemplate(): Promise<string> {
  const directory = temporaryDirectory('mariadb-template');
  await run(requireProgram('mariadb-install-db'), [
    '--no-defaults',
    `--datadir=${join(directory, 'data')}`,
    `--tmpdir=${directory}`,
    ...asRoot(),
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
  ]);
  return directory;
}

export function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}
