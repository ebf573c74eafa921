import { execFileSync, spawnSync } from 'node:child_process';

/** The commit that added it is the first one that the rules hold for. */
const CONFIG = '.commitlintrc.json';

/** Checks the messages of all commits since the one that added the rules. Without history it says that it checks nothing. */
function checkCommits(): void {
  const base = firstCommit();
  if (base === undefined) return console.log('commits: not checked, since this copy has no complete history');
  const { status } = spawnSync('commitlint', ['--from', base], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

function firstCommit(): string | undefined {
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true') return undefined;
    return git('log', '--diff-filter=A', '--format=%H', '--', CONFIG).split('\n').at(-1) || undefined;
  } catch {
    return undefined;
  }
}

function git(...parameters: string[]): string {
  return execFileSync('git', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

checkCommits();
