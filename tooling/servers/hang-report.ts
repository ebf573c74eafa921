import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RowDataPacket } from 'mysql2/promise';
import { within } from '../wait.ts';
import type { MariaDbServer } from './mariadb.ts';

const ANSWER_TIMEOUT_MS = 5000;

/**
 * What a server was doing whose statements have not ended: what InnoDB waits for, the end of the log, where its threads wait
 * in the system, who holds which metadata lock, and, last, all statements. Undefined when none has run for so long.
 */
export async function hangReport(server: MariaDbServer, longSeconds: number): Promise<string | undefined> {
  const ask = (sql: string) =>
    within(sql, ANSWER_TIMEOUT_MS, server.execute(sql)) as Promise<RowDataPacket[]>;
  const long = `command <> 'Sleep' AND command <> 'Daemon' AND time >= ${longSeconds}`;
  const found = await ask(`SELECT id FROM information_schema.processlist WHERE ${long}`).catch(String);
  if (typeof found !== 'string' && found.length === 0) return undefined;

  const lines = async (sql: string) => {
    const rows = await ask(sql).catch(String);
    return typeof rows === 'string' ? rows : rows.map((row) => Object.values(row).join(' | ')).join('\n');
  };
  await ask("INSTALL SONAME 'metadata_lock_info'").catch(String);
  return [
    `${server.name} has statements that did not end in ${longSeconds} s:`,
    await lines('SHOW ENGINE INNODB STATUS'),
    server.logTail(),
    threadsOf(server.pid),
    await lines('SELECT * FROM information_schema.metadata_lock_info'),
    await lines('SHOW FULL PROCESSLIST'),
  ].join('\n');
}

/** How many there are of each name, state and function of the kernel in which they wait. Empty where there is no /proc. */
function threadsOf(pid: number | undefined): string {
  const tasks = `/proc/${pid}/task`;
  try {
    const threads = Map.groupBy(readdirSync(tasks), (task) => stateOf(join(tasks, task)));
    return [...threads].map(([state, { length }]) => `${length} threads: ${state}`).join('\n');
  } catch {
    return '';
  }
}

function stateOf(task: string): string {
  const [, name, state] = /\((.*)\) (\S)/.exec(readFileSync(join(task, 'stat'), 'utf8')) ?? [];
  return `${name} ${state} ${readFileSync(join(task, 'wchan'), 'utf8')}`;
}
