import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import { expect, onTestFinished } from 'vitest';
import type { Answer } from './answer.js';
import { engine } from './engine.js';
import type { Service } from './service.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

/** A transaction of the test: others wait for its writes until it ends, at the latest with the test. */
export interface HeldRows {
  write(sql: string, values?: SQLInputValue[]): Promise<void>;
  /** Resolves when a change that was sent to the service waits for this transaction, with all checks before behind it. */
  untilOneWaits(): Promise<void>;
  /** The same for several, on a server: SQLite lets one at a time wait. */
  untilWaiting(count: number): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export function holdRows(service: Service): Promise<HeldRows> {
  return engine === 'sqlite' ? holdFile(service) : holdInnodbRows(service);
}

/** Sends the request while the change is not committed yet, and ends the change when the request waits for it. */
export async function answerAfter(
  service: Service,
  change: (held: HeldRows) => Promise<void>,
  send: () => Promise<Answer>,
  end: 'commit' | 'rollback' = 'commit',
): Promise<Answer> {
  const held = await holdRows(service);
  await change(held);
  const answer = send();
  await held.untilOneWaits();
  await held[end]();
  return answer;
}

/** SQLite has one lock for all writes; a service that waits for it says so. */
async function holdFile(service: Service): Promise<HeldRows> {
  // The service may be writing at this moment.
  const database = new DatabaseSync(service.db.url.replace('sqlite:', ''), { timeout: hangTimeoutMs() });
  database.exec('BEGIN IMMEDIATE');
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
  const waits = (): number => service.logs.filter((line) => line.includes('file locked')).length;
  const before = waits();
  const end = async (statement: string): Promise<void> => {
    database.exec(statement);
    database.close();
  };
  const untilOneWaits = async (): Promise<void> => {
    await expect.poll(waits, { timeout: hangTimeoutMs(), interval: 10 }).toBeGreaterThan(before);
  };
  return {
    write: async (sql, values = []) => void database.prepare(sql).run(...values),
    untilOneWaits,
    untilWaiting: untilOneWaits,
    commit: () => end('COMMIT'),
    rollback: () => end('ROLLBACK'),
  };
}

const CONNECTIONS = 'SELECT ID AS id FROM information_schema.PROCESSLIST WHERE DB = DATABASE()';

/** How many connections to the service's database wait for a row. The tables of InnoDB's locks show an old picture. */
async function waitingForRows({ db }: Pick<Service, 'db'>): Promise<number> {
  const status = String((await db.query('SHOW ENGINE INNODB STATUS'))[0]!['Status']);
  // The latest deadlock, which stands before them, is over.
  const transactions = status.slice(status.indexOf('LIST OF TRANSACTIONS FOR EACH SESSION'));
  const waiting = new Set(
    [...transactions.matchAll(/^LOCK WAIT [^]*?thread id (\d+)/gm)].map(([, id]) => Number(id)),
  );
  const ours = (await db.query(CONNECTIONS)).map(({ id }) => Number(id));
  return ours.filter((id) => waiting.has(id)).length;
}

/** On a server, where no process of the service need be running. */
export async function holdInnodbRows(service: Pick<Service, 'db'>): Promise<HeldRows> {
  const connection = await createConnection(service.db.url);
  onTestFinished(() => connection.destroy());
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  await connection.query('START TRANSACTION');
  const end = async (statement: string): Promise<void> => {
    await connection.query(statement);
    await connection.end();
  };
  const untilWaiting = async (count: number): Promise<void> => {
    await expect.poll(() => waitingForRows(service), { timeout: hangTimeoutMs() }).toBe(count);
  };
  return {
    write: async (sql, values = []) => void (await connection.query(sql, values)),
    untilOneWaits: () => untilWaiting(1),
    untilWaiting,
    commit: () => end('COMMIT'),
    rollback: () => end('ROLLBACK'),
  };
}
