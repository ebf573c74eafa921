import type { ChildProcess } from 'node:child_process';

/** However the benchmark ends, this program ends with it, and before its files are deleted. */
export function killAtExit(child: ChildProcess): void {
  const kill = (): void => void child.kill('SIGKILL');
  process.prependListener('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}
