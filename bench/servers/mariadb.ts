import { MariaDbServer } from '../../tooling/servers/mariadb.ts';

export const BUFFER_POOL_MIB = 256;

/** A MariaDB of its own in the directory, as durable as one in production: each commit is on the disk. */
export function startMariaDb(directory: string, bufferPoolMib = BUFFER_POOL_MIB): Promise<MariaDbServer> {
  const args = [`--innodb-buffer-pool-size=${bufferPoolMib}M`, '--innodb-log-file-size=256M'];
  return MariaDbServer.start({ directory, durable: true, args });
}

/** Its name and version, for the reader. */
export async function describeMariaDb(server: MariaDbServer): Promise<string> {
  const [row] = (await server.execute('SELECT VERSION() AS version')) as { version: string }[];
  return `MariaDB ${row!.version}`;
}
