import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { freePort } from './free-port.ts';
import { killAtExit } from './kill-at-exit.ts';

export interface PrivateMariaDb {
  version: string;
  pid: number;
  createDatabase(name: string): Promise<string>;
}

export const BUFFER_POOL_MIB = 256;

const START_TIMEOUT_MS = 20_000;
// Administrators' programs, which an ordinary user's PATH may lack.
const PATH = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin`;

/** A MariaDB of its own in the directory, as durable as one in production: each commit is on the disk. */
export async function startMariaDb(
  directory: string,
  bufferPoolMib = BUFFER_POOL_MIB,
): Promise<PrivateMariaDb> {
  const data = join(directory, 'mariadb');
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  execFileSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--tmpdir=${directory}`,
      ...user,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
    ],
    { env: { ...process.env, PATH }, stdio: 'pipe' },
  );
  const port = await freePort();
  const server = spawn(
    'mariadbd',
    [
      '--no-defaults',
      ...user,
      `--datadir=${data}`,
      // A server that starts removes the temporary tables that it finds: those of others, in a shared directory.
      `--tmpdir=${directory}`,
      `--socket=${join(directory, 'mariadb.sock')}`,
      `--pid-file=${join(directory, 'mariadb.pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--skip-log-bin',
      '--innodb-flush-log-at-trx-commit=1',
      `--innodb-buffer-pool-size=${bufferPoolMib}M`,
      '--innodb-log-file-size=256M',
      '--character-set-server=utf8mb4',
    ],
    { env: { ...process.env, PATH }, stdio: 'ignore' },
  );
  killAtExit(server);
  const connection = await connectWhenUp(server, port);
  const [rows] = await connection.query('SELECT VERSION() AS version');
  return {
    pid: server.pid!,
    version: (rows as { version: string }[])[0]!.version,
    async createDatabase(name) {
      await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
      return `mysql://root@127.0.0.1:${port}/${name}`;
    },
  };
}

async function connectWhenUp(server: ChildProcess, port: number): Promise<Connection> {
  let failure: Error | undefined;
  server.once('error', (error) => (failure = error));
  for (const end = Date.now() + START_TIMEOUT_MS; Date.now() < end; await sleep(50)) {
    if (failure) throw failure;
    if (server.exitCode !== null) throw new Error(`mariadbd ended with code ${server.exitCode}`);
    const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' }).catch(
      () => undefined,
    );
    if (connection) return connection;
  }
  throw new Error('mariadbd did not start in time');
}
