import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { MysqlLocation } from '../../config/database-url.js';
import { tlsOptions } from './mysql-tls.js';

const TIMEOUT_MS = 1500;

const SETTINGS = `SHOW GLOBAL VARIABLES WHERE Variable_name IN
  ('innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on')`;

/** A server that acknowledges a commit before the commit is on its disk. */
export interface UnsafeCommits {
  host: string;
  /** such as `sync_binlog=0` */
  settings: string[];
  /** what a crash costs */
  cost: string;
}

/** Asks every host, since any of them may become the one that is written to. A host that does not answer is left out. */
export async function findUnsafeCommits(location: MysqlLocation): Promise<UnsafeCommits[]> {
  const found = await Promise.all(
    location.hosts.map(({ host, port }) => unsafeCommitsOf(location, host, port).catch(() => undefined)),
  );
  return found.filter((unsafe) => unsafe !== undefined);
}

async function unsafeCommitsOf(
  { user, password, tls }: MysqlLocation,
  host: string,
  port: number,
): Promise<UnsafeCommits | undefined> {
  const login = { host, port, user, password, ...tlsOptions(tls, host, port) };
  const connection = await createConnection({ ...login, connectTimeout: TIMEOUT_MS });
  try {
    const [rows] = await connection.query<RowDataPacket[]>({ sql: SETTINGS, timeout: TIMEOUT_MS });
    const values = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
    const settings = unsafeSettings(values);
    if (settings.length === 0) return undefined;
    return { host: `${host}:${port}`, settings, cost: costIn(values) };
  } finally {
    connection.destroy();
  }
}

/** Without `sync_binlog`, a crash rolls back what is missing in the binary log, although InnoDB has it. */
function unsafeSettings(values: ReadonlyMap<string, string>): string[] {
  const needed = [
    'innodb_flush_log_at_trx_commit',
    ...(values.get('log_bin') === 'ON' ? ['sync_binlog'] : []),
  ];
  return needed.filter((name) => values.get(name) !== '1').map((name) => `${name}=${values.get(name)}`);
}

function costIn(values: ReadonlyMap<string, string>): string {
  const cost = 'a crash can lose changes of the last second that were acknowledged';
  return values.get('wsrep_on') === 'ON' ? `${cost}, if all nodes of the cluster crash at once` : cost;
}
