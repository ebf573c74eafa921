import { execFile } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection, type Connection } from 'mysql2/promise';
import { freePort } from './ports.js';
import { findProgram, removeDirectory, ServerProcess, temporaryDirectory } from './server-process.js';
import { waitFor } from '../../support/wait.js';

const run = promisify(execFile);

export interface MariaDbOptions {
  /** What was committed survives a SIGKILL. Without it commits are cheap and the last second may be lost. */
  durable?: boolean;
  args?: string[];
}

/** The user a server runs as; undefined: the user of this process. */
export interface RunAs {
  uid: number;
  gid: number;
}

/** A private MariaDB on 127.0.0.1, in a temporary directory: root without a password, one database `test`. */
export class MariaDbServer extends ServerProcess {
  readonly port: number;
  private readonly options: MariaDbOptions;

  private constructor(directory: string, port: number, options: MariaDbOptions) {
    super(`mariadb:${port}`, directory);
    this.port = port;
    this.options = options;
  }

  static async start(options: MariaDbOptions = {}): Promise<MariaDbServer> {
    const directory = temporaryDirectory('mariadb');
    await copyOfTemplate(directory);
    const server = new MariaDbServer(directory, await freePort(), options);
    await server.restart();
    await server.execute('CREATE DATABASE IF NOT EXISTS test');
    return server;
  }

  get url(): string {
    return `mysql://root@127.0.0.1:${this.port}/test`;
  }

  /** Starts again on the same data and the same port, and waits until it answers. */
  async restart(): Promise<void> {
    this.launch({ program: findProgram('mariadbd', 'mysqld'), args: this.args() });
    await waitUntilReady(this, this.port);
  }

  /** One statement on a connection of its own, as root. */
  execute(sql: string): Promise<unknown> {
    return withConnection(this.port, async (connection) => (await connection.query(sql))[0]);
  }

  async close(): Promise<void> {
    await this.kill();
    removeDirectory(this.directory);
  }

  private args(): string[] {
    return [
      ...commonArgs(this.directory, this.port),
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
      '--skip-log-bin',
      ...durability(this.options.durable ?? false),
      ...(this.options.args ?? []),
    ];
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
    '--innodb-buffer-pool-size=64M',
    '--innodb-log-file-size=16M',
    '--character-set-server=utf8mb4',
    '--collation-server=utf8mb4_unicode_ci',
  ];
}

export function durability(durable: boolean): string[] {
  return durable
    ? ['--innodb-flush-log-at-trx-commit=1']
    : ['--innodb-flush-log-at-trx-commit=0', '--innodb-flush-method=nosync', '--innodb-doublewrite=0'];
}

/** Waits for the first answer to a query; fails at once when the process ends. */
export async function waitUntilReady(server: ServerProcess, port: number, timeoutMs = 30_000): Promise<void> {
  await waitFor(`${server.name} answers`, timeoutMs, async () => {
    if (!server.isRunning) return true;
    await withConnection(port, (connection) => connection.query('SELECT 1'));
    return true;
  });
  server.assertRunning();
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

let template: Promise<string> | undefined;

/** Fills `directory/data` with an empty data directory. Only the first one of a process is made, the others are copies. */
export async function copyOfTemplate(directory: string, runAs?: RunAs): Promise<void> {
  template ??= makeTemplate();
  await run('cp', ['-R', join(await template, 'data'), join(directory, 'data')]);
  if (!runAs) return;
  chownSync(directory, runAs.uid, runAs.gid);
  await run('chown', ['-R', `${runAs.uid}:${runAs.gid}`, join(directory, 'data')]);
}

async function makeTemplate(): Promise<string> {
  const directory = temporaryDirectory('mariadb-template');
  const data = join(directory, 'data');
  mkdirSync(data);
  await run(findProgram('mariadb-install-db', 'mysql_install_db'), [
    '--no-defaults',
    `--datadir=${data}`,
    `--tmpdir=${directory}`,
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
  ]);
  return directory;
}
