import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const RELEASES = resolve(import.meta.dirname, '../releases.json');
// Not below node_modules: Node runs no TypeScript there, and releases build themselves with some.
const CACHE = join(ROOT, 'cache/releases');
const MAX_ARCHIVE_BYTES = 2 ** 28;

interface Release {
  version: string;
  commit: string;
  directory: string;
}

/** The latest of releases.json, built from the history of this repository. */
export function previousRelease(): Release {
  const releases = JSON.parse(readFileSync(RELEASES, 'utf8')) as Record<string, string>;
  const [version, commit] = Object.entries(releases).at(-1)!;
  return { version, commit, directory: join(CACHE, commit) };
}

/** Once for each commit: later runs find it built. */
export default function setup(): void {
  const { version, commit, directory } = previousRelease();
  if (existsSync(directory)) return;
  requireCommit(version, commit);
  const draft = `${directory}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: MAX_ARCHIVE_BYTES });
  execFileSync('tar', ['--extract'], { cwd: draft, input: archive });
  for (const args of [['ci'], ['run', 'build']]) execFileSync('npm', args, { cwd: draft, stdio: 'inherit' });
  renameSync(draft, directory);
}

function requireCommit(version: string, commit: string): void {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT });
  if (status === 0) return;
  throw new Error(
    `The upgrade tests did NOT run: this clone lacks the commit of ${version} (${commit}). ` +
      'Fetch it with: git fetch --unshallow',
  );
}
