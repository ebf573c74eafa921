import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RowDataPacket } from 'mysql2/promise';
import { threadsOf } from '../processes/threads.ts';
import { within } from '../wait.ts';
import type { MariaDbServer } from './mariadb.ts';

const ANSWER_TIMEOUT_MS = 5000;

/**
 * Tells what a server was doing whose statements have not ended: what InnoDB waits for, the end of the log, where its threads
 * wait in the system, who holds which metadata lock, and, last, all statements. Undefined when none has run for so long.
 */
export async function hangReport(server: MariaDbServer, longSeconds: number): Promise<string | undefined> {
  const ask = (sql: string) => within(sql, ANSWER_TIMEOUT_MS, server.execute(sql));
  const lines = (sql: string) => ask(sql).then((rows) => toLines(rows as RowDataPacket[]), String);

  const long = `command <> 'Sleep' AND command <> 'Daemon' AND time >= ${longSeconds}`;
  if ((await lines(`SELECT id FROM information_schema.processlist WHERE ${long}`)) === '') return undefined;

  await ask("INSTALL SONAME 'metadata_lock_info'").catch(String);
  return [
    `${server.name} has statements that did not end in ${longSeconds} s:`,
    await lines('SHOW ENGINE INNODB STATUS'),
    server.logTail(),
    threads(server.pid),
    await lines('SELECT * FROM information_schema.metadata_lock_info'),
    await lines('SHOW FULL PROCESSLIST'),
  ].join('\n');
}

function toLines(rows: RowDataPacket[]): string {
  return rows.map((row) => Object.values(row).join(' | ')).join('\n');
}

/** Counts them by name, state and function of the kernel in which they wait. */
function threads(pid: number | undefined): string {
  try {
    const alike = Map.groupBy(threadsOf(pid), ({ name, state, directory }) =>
      [name, state, readFileSync(join(directory, 'wchan'), 'utf8')].join(' '),
    );
    return [...alike].map(([kind, { length }]) => `${length} threads: ${kind}`).join('\n');
  } catch (error) {
    return String(error);
  }
}
