import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RowDataPacket } from 'mysql2/promise';
import { within } from '../wait.ts';
import type { MariaDbServer } from './mariadb.ts';

const ANSWER_TIMEOUT_MS = 5000;

/**
 * What a server was doing whose statements have not ended: they themselves, who holds which metadata lock, what InnoDB
 * waits for, and where each thread waits in the system. Undefined when no statement has run for so long.
 */
export async function hangReport(server: MariaDbServer, longSeconds: number): Promise<string | undefined> {
  const ask = (sql: string) =>
    within(sql, ANSWER_TIMEOUT_MS, server.execute(sql)) as Promise<RowDataPacket[]>;
  const long = `command <> 'Sleep' AND command <> 'Daemon' AND time >= ${longSeconds}`;
  const found = await ask(`SELECT id FROM information_schema.processlist WHERE ${long}`).catch(String);
  if (typeof found !== 'string' && found.length === 0) return undefined;

  const tables = async (sql: string) => JSON.stringify(await ask(sql).catch(String), null, 1);
  return [
    `${server.name} has statements that did not end in ${longSeconds} s:`,
    await tables('SHOW FULL PROCESSLIST'),
    await tables("INSTALL SONAME 'metadata_lock_info'"),
    await tables('SELECT * FROM information_schema.metadata_lock_info'),
    await tables('SHOW ENGINE INNODB STATUS'),
    threadsOf(server.pid),
    server.logTail(),
  ].join('\n');
}

/** Its name, its state and the function of the kernel in which it waits. Empty where there is no /proc. */
function threadsOf(pid: number | undefined): string {
  const tasks = `/proc/${pid}/task`;
  try {
    return readdirSync(tasks)
      .map((task) => [stateOf(join(tasks, task)), readFileSync(join(tasks, task, 'wchan'), 'utf8')].join(' '))
      .join('\n');
  } catch {
    return '';
  }
}

function stateOf(task: string): string {
  const [, name, state] = /\((.*)\) (\S)/.exec(readFileSync(join(task, 'stat'), 'utf8')) ?? [];
  return `${name} ${state}`;
}
