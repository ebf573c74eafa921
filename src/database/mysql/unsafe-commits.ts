import type { MysqlLocation } from '../../config/database-url.js';
import { askServer, loginTo } from './mysql-server.js';

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
  location: MysqlLocation,
  host: string,
  port: number,
): Promise<UnsafeCommits | undefined> {
  const rows = await askServer(loginTo(location, host, port), TIMEOUT_MS, (ask) => ask(SETTINGS));
  const values = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  // Without `sync_binlog`, a crash rolls back what is missing in the binary log, although InnoDB has it.
  const needed = [
    'innodb_flush_log_at_trx_commit',
    ...(values.get('log_bin') === 'ON' ? ['sync_binlog'] : []),
  ];
  const unsafe = needed.filter((name) => values.get(name) !== '1');
  if (unsafe.length === 0) return undefined;
  const isCluster = values.get('wsrep_on') === 'ON';
  return {
    host: `${host}:${port}`,
    settings: unsafe.map((name) => `${name}=${values.get(name)}`),
    cost: `a crash can lose changes of the last second that were acknowledged${isCluster ? ', if all nodes of the cluster crash at once' : ''}`,
  };
}
