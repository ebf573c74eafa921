import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, createWriteStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { type DatabaseTls, isVerified, type MysqlLocation } from '../../config/database-url.js';
import { programEnvironment } from '../../config/env.js';

export interface DumpProgram {
  name: string;
  /** MySQL and MariaDB have other options for TLS. */
  isMariadb: boolean;
}

const NAMES = ['mariadb-dump', 'mysqldump'];

/** Prefers the program of the server's product. Returns undefined if none is installed. */
export async function findDumpProgram(isMysql: boolean): Promise<DumpProgram | undefined> {
  for (const name of isMysql ? NAMES.toReversed() : NAMES) {
    try {
      const { stdout } = await promisify(execFile)(name, ['--version'], { env: programEnvironment() });
      return { name, isMariadb: /mariadb/i.test(stdout) };
    } catch {
      continue;
    }
  }
  return undefined;
}

const OPTIONS_FILE = '/dev/fd/3';
const CA_FILE = '/dev/fd/4';
const DUMP = [
  '--single-transaction',
  '--hex-blob',
  '--no-tablespaces',
  '--skip-triggers',
  '--default-character-set=utf8mb4',
];
/** MariaDB servers have no table of column statistics. */
const DUMP_OF_MYSQL = ['--set-gtid-purged=OFF', '--column-statistics=0'];

const LAST_LINE = /\n-- Dump completed[^\n]*\n$/;
const MAX_LAST_LINE = 100;
const MAX_SAID = 10_000;

interface Dump {
  program: DumpProgram;
  /** with one host */
  location: MysqlLocation;
  file: string;
  onBytes: (bytes: number) => void;
  signal: AbortSignal;
}

/** Returns what is wrong with the dump, if anything. @throws if the file cannot be written, or by the signal */
export async function dumpDatabase(dump: Dump): Promise<string | undefined> {
  const { program, location, file, onBytes, signal } = dump;
  const files = [optionsText(program, location), authoritiesOf(location.tls)].map(unnamedFile);
  const parameters = [...DUMP, ...(program.isMariadb ? [] : DUMP_OF_MYSQL), '--', location.database];
  const child = spawn(program.name, [`--defaults-file=${OPTIONS_FILE}`, ...parameters], {
    env: programEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', ...files],
  });
  for (const descriptor of files) closeSync(descriptor);
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  ended.catch(() => undefined);
  // Read to the end, so that the program never waits for this process.
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MAX_SAID)));
  let bytes = 0;
  let end = Buffer.alloc(0);
  const watch = async function* (chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of chunks) {
      onBytes((bytes += chunk.length));
      end = Buffer.concat([end, chunk]).subarray(-MAX_LAST_LINE);
      yield chunk;
    }
  };
  try {
    await pipeline(child.stdout!, watch, createWriteStream(file), { signal });
  } catch (error) {
    child.kill();
    throw error;
  }
  const [code, killedBy] = await ended;
  if (killedBy !== null) return `${program.name} was ended by ${killedBy}`;
  if (code !== 0) return said.trim().split('\n').at(-1) || `${program.name} ended with ${code}`;
  return LAST_LINE.test(end.toString()) ? undefined : `${program.name} did not finish it`;
}

function optionsText({ isMariadb }: DumpProgram, { hosts, user, password, tls }: MysqlLocation): string {
  const { host, port } = hosts[0]!;
  const place = { host, port, user, password, protocol: 'tcp' };
  const lines = Object.entries(place).map(([name, value]) => `${name}=${quoted(String(value))}`);
  return ['[client]', ...lines, ...(isMariadb ? tlsOfMariadb(tls) : tlsOfMysql(tls)), ''].join('\n');
}

function quoted(value: string): string {
  const escaped = value.replaceAll(/["\\]/g, String.raw`\$&`);
  return `"${escaped.replaceAll('\n', String.raw`\n`).replaceAll('\r', String.raw`\r`)}"`;
}

/** From version 11.4 on, it can verify the authority only together with the host name. */
function tlsOfMariadb(tls: DatabaseTls | undefined): string[] {
  if (tls === undefined) return ['skip-ssl'];
  if (!isVerified(tls)) return ['ssl', 'skip-ssl-verify-server-cert'];
  return ['ssl', `ssl-ca=${CA_FILE}`, 'ssl-verify-server-cert'];
}

function tlsOfMysql(tls: DatabaseTls | undefined): string[] {
  // Without TLS, a server encrypts the password for its own key only.
  if (tls === undefined) return ['ssl-mode=DISABLED', 'get-server-public-key'];
  if (!isVerified(tls)) return ['ssl-mode=REQUIRED'];
  return [`ssl-mode=${tls.mode === 'verify' ? 'VERIFY_IDENTITY' : 'VERIFY_CA'}`, `ssl-ca=${CA_FILE}`];
}

/** Those of Node if none is configured, as for the connections of Accounts. */
function authoritiesOf(tls: DatabaseTls | undefined): string {
  return tls && isVerified(tls) ? (tls.ca ?? getCACertificates('default').join('\n')) : '';
}

/** Has no name when it gets its text, so that also SIGKILL leaves no password on the disk. @returns its descriptor */
function unnamedFile(text: string): number {
  const directory = mkdtempSync(join(tmpdir(), 'accounts-'));
  const path = join(directory, 'file');
  const written = openSync(path, 'wx', 0o600);
  try {
    const read = openSync(path, 'r');
    rmSync(directory, { recursive: true });
    writeSync(written, text);
    return read;
  } finally {
    closeSync(written);
  }
}
