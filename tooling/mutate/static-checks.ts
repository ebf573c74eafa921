import { spawn } from 'node:child_process';
import type { Workspace } from './workspace.ts';

const CHECKS = {
  'the compiler': (_file: string) => [
    'node_modules/typescript/bin/tsc',
    '--noEmit',
    '-p',
    'tsconfig.build.json',
  ],
  'the linter': (file: string) => ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', file],
};

/** Which of the checks that `npm test` makes besides the tests notices the mistake that is in the workspace. */
export async function checkThatNotices({ root }: Workspace, file: string): Promise<string | undefined> {
  for (const [name, command] of Object.entries(CHECKS)) {
    const child = spawn(process.execPath, command(file), { cwd: root, stdio: 'ignore' });
    const code = await new Promise<number | null>((done) => child.once('close', done));
    if (code !== 0) return name;
  }
  return undefined;
}
