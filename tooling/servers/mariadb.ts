import { join } from 'node:path';
import { type Connection, createConnection } from 'mysql2/promise';
import { temporaryDirectory } from '../processes/at-exit.ts';
import { requireProgram } from '../processes/find-program.ts';
import { ServerProcess } from '../processes/server-process.ts';
import { freePort } from '../../client/src/free-port.ts';
import { asRoot, createDataDirectory } from './mariadb-data.ts';

export interface MariaDbOptions {
  /** Commits survive a power cut. Otherwise they are cheap, and survive a SIGKILL only. */
  durable?: boolean;
  /** go before those that all servers have */
  args?: readonly string[];
  /** by default a temporary directory of its own */
  directory?: string;
}

const START_TIMEOUT_MS = 30_000;

/** A private MariaDB on 127.0.0.1: root without a password, one database `test`. */
export class MariaDbServer extends ServerProcess {
  readonly port: number;
  private readonly args: readonly string[];

  private constructor(directory: string, port: number, { durable = false, args = [] }: MariaDbOptions) {
    super(`mariadb:${port}`, directory);
    this.port = port;
    this.args = [
      ...commonArgs(directory, port),
      ...asRoot(),
      '--skip-log-bin',
      '--max-connections=1000',
      ...durability(durable),
      ...args,
    ];
  }

  static async start(options: MariaDbOptions = {}): Promise<MariaDbServer> {
    const directory = options.directory ?? temporaryDirectory('mariadb');
    await createDataDirectory(directory);
    const server = new MariaDbServer(directory, await freePort(), options);
    await server.restart();
    await server.createDatabase('test');
    return server;
  }

  get url(): string {
    return `mysql://root@127.0.0.1:${this.port}/test`;
  }

  /** Starts again on the same data and the same port, and waits until it answers. */
  async restart(): Promise<void> {
    this.launch({ program: requireProgram('mariadbd'), args: this.args });
    await waitUntilAnswering(this, this.port, START_TIMEOUT_MS);
  }

  /** One statement on a connection of its own, as root. */
  execute(sql: string): Promise<unknown> {
    return withConnection(this.port, async (connection) => (await connection.query(sql))[0]);
  }

  createDatabase(name: string): Promise<string> {
    return createDatabase(this.port, name);
  }
}

export function commonArgs(directory: string, port: number): string[] {
  return [
    '--no-defaults',
    `--datadir=${join(directory, 'data')}`,
    // A server that starts removes the temporary tables that it finds: those of others, in a shared directory.
    `--tmpdir=${directory}`,
    `--socket=${join(directory, 'socket')}`,
    `--pid-file=${join(directory, 'pid')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
    '--performance-schema=off',
    // Tests cut connections on purpose; each would fill a line of the log.
    '--log-warnings=1',
    '--innodb-buffer-pool-size=64M',
    '--innodb-log-file-size=16M',
  ];
}

export function durability(durable: boolean): string[] {
  return ['--innodb-flush-log-at-trx-commit=1', ...(durable ? [] : ['--innodb-flush-method=nosync'])];
}

export function waitUntilAnswering(server: ServerProcess, port: number, timeoutMs: number): Promise<void> {
  return server.waitUntil('answers', timeoutMs, async () => {
    await withConnection(port, (connection) => connection.query('SELECT 1'));
    return true;
  });
}

/** @returns its URL, as root */
export async function createDatabase(port: number, name: string): Promise<string> {
  await withConnection(port, (connection) => connection.query(`CREATE DATABASE ${name}`));
  return `mysql://root@127.0.0.1:${port}/${name}`;
}

export async function withConnection<T>(
  port: number,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await createConnection({
    host: '127.0.0.1',
    port,
    user: 'root',
    connectTimeout: 1000,
  });
  try {
    return await use(connection);
  } finally {
    connection.destroy();
  }
}
