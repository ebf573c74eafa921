import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';

interface MariadbPrograms {
  server: string;
  install: string;
}

export interface MariadbServer {
  port: number;
  stop(): Promise<void>;
}

const MEMORY_DISK = '/dev/shm';
const MEMORY_DISK_BYTES = 1024 ** 3;
const START_TIMEOUT_MS = 30_000;

/** Servers live in `sbin`, which is seldom on an ordinary user's PATH: it is looked at beside each `bin`. */
export function findMariadb(): MariadbPrograms | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  const directories = [...path, ...path.map((directory) => resolve(directory, '../sbin'))];
  const find = (program: string): string | undefined =>
    directories.map((directory) => join(directory, program)).find(isExecutable);

  const server = find('mariadbd');
  const install = find('mariadb-install-db');
  return server !== undefined && install !== undefined ? { server, install } : undefined;
}

/**
 * Starts a server of its own on an empty data directory, which goes away with it. Its temporary tables have to
 * be in there too: a server that starts removes those that it finds, and one that misses its own crashes.
 */
export async function startMariadb(...settings: string[]): Promise<MariadbServer> {
  const programs = findMariadb();
  if (!programs) throw new Error('There is no mariadbd on this machine');

  // Whoever names a directory for temporary files means these too.
  const place = process.env['TMPDIR'] === undefined && roomyMemoryDisk() ? MEMORY_DISK : tmpdir();
  const directory = await mkdtemp(join(place, 'accounts-mariadb-'));
  const data = join(directory, 'data');
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  await promisify(execFile)(programs.install, [
    '--no-defaults',
    `--datadir=${data}`,
    `--tmpdir=${directory}`,
    ...asRoot,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
  ]);

  const port = await freePort();
  const server = spawn(
    programs.server,
    [
      '--no-defaults',
      ...asRoot,
      `--datadir=${data}`,
      `--tmpdir=${directory}`,
      `--socket=${join(directory, 's.sock')}`,
      `--pid-file=${join(directory, 'pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--max-connections=1000',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-flush-method=nosync',
      '--innodb-doublewrite=0',
      '--skip-log-bin',
      '--performance-schema=off',
      '--innodb-buffer-pool-size=64M',
      '--innodb-log-file-size=16M',
      ...settings,
    ],
    { stdio: 'ignore' },
  );
  const kill = (): boolean => server.kill('SIGKILL');
  const ended = new Promise<void>((done) => server.once('exit', () => done()));
  process.once('exit', kill);

  await untilAnswering(port, () => server.exitCode !== null);
  return {
    port,
    stop: async () => {
      process.off('exit', kill);
      kill();
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function untilAnswering(port: number, isDead: () => boolean): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
      await connection.end();
      return;
    } catch (error) {
      if (isDead() || Date.now() > deadline) throw error;
      await new Promise((next) => setTimeout(next, 50));
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === 'object' ? found(address.port) : failed(new Error('no port')),
      );
    });
  });
}

/** Containers often have only 64 MB there, which a data directory outgrows. */
function roomyMemoryDisk(): boolean {
  try {
    accessSync(MEMORY_DISK, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    return bavail * bsize > MEMORY_DISK_BYTES;
  } catch {
    return false;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
