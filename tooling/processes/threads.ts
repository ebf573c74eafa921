import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Thread {
  name: string;
  /** a letter, as in proc_pid_stat(5) */
  state: string;
  /** where the system tells more of it */
  directory: string;
}

/** Finds none where there is no /proc. @throws where one ends meanwhile */
export function threadsOf(pid: number | undefined): Thread[] {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return [];
  return readdirSync(tasks).map((task) => threadIn(join(tasks, task)));
}

function threadIn(directory: string): Thread {
  const [, name = '', state = ''] = /\((.*)\) (\S)/.exec(readFileSync(join(directory, 'stat'), 'utf8')) ?? [];
  return { name, state, directory };
}
