import { spawn } from 'node:child_process';
import type { Workspace } from './workspace.ts';

const OXLINT = 'node_modules/oxlint/bin/oxlint';

/** The build before has already asked the compiler. */
export async function isLintClean({ root }: Workspace, file: string): Promise<boolean> {
  const child = spawn(process.execPath, [OXLINT, '--type-aware', '--deny-warnings', file], {
    cwd: root,
    stdio: 'ignore',
  });
  return (await new Promise<number | null>((done) => child.once('close', done))) === 0;
}
