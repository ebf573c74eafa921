import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import { aSigningKey } from '../../support/signing-keys.js';
import type { Snapshot } from './invariants.js';
import { MariaDbServer } from './mariadb-server.js';
import type { Role } from './reference-model.js';
import { removeDirectory, temporaryDirectory } from './server-process.js';
import { asRecord, asString } from './service-client.js';

export type Engine = 'sqlite' | 'mariadb';

export const ENGINES: readonly Engine[] = ['sqlite', 'mariadb'];

type Row = Record<string, unknown>;

/** What outlives the processes of the service, on either engine: its directory, its keys, its database. */
export class Storage {
  readonly directory = temporaryDirectory('storage');
  readonly env: Record<string, string>;
  private readonly server: MariaDbServer | undefined;
  private readonly url: string;

  private constructor(url: string | undefined, server?: MariaDbServer) {
    this.server = server;
    this.url = url ?? `sqlite:${this.file}`;
    const keys = join(this.directory, 'jwks.json');
    writeFileSync(keys, JSON.stringify({ keys: [aSigningKey().jwk] }), { mode: 0o600 });
    this.env = { DATABASE_URL: this.url, JWT_KEYS_FILE: keys };
  }

  static async on(engine: Engine): Promise<Storage> {
    if (engine === 'sqlite') return new Storage(undefined);
    const server = await MariaDbServer.start();
    return new Storage(server.url, server);
  }

  /** On a server that somebody else starts and ends. */
  static at(url: string): Storage {
    return new Storage(url);
  }

  async query(sql: string): Promise<Row[]> {
    return this.isServer ? this.queryServer(sql) : this.queryFile(sql);
  }

  /** To be read when nothing is under way. */
  async snapshot(): Promise<Snapshot> {
    const [users, orgs, members, sessions] = [
      await this.query('SELECT id, email FROM users'),
      await this.query('SELECT id FROM orgs'),
      await this.query('SELECT org_id, user_id, role FROM members'),
      await this.query('SELECT id, user_id, parent_id, code_hash FROM sessions'),
    ];
    return {
      users: users.map((row) => ({ id: text(row, 'id'), email: text(row, 'email') })),
      orgs: orgs.map((row) => ({ id: text(row, 'id') })),
      members: members.map((row) => ({
        orgId: text(row, 'org_id'),
        userId: text(row, 'user_id'),
        role: text(row, 'role') as Role,
      })),
      sessions: sessions.map((row) => ({
        id: text(row, 'id'),
        userId: text(row, 'user_id'),
        parentId: textOrNull(row, 'parent_id'),
        codeHash: textOrNull(row, 'code_hash'),
      })),
    };
  }

  /** Every table, column, index and foreign key, and which migrations are noted as applied. */
  async schema(): Promise<Row[]> {
    if (!this.isServer) return this.query('SELECT type, name, sql FROM sqlite_master ORDER BY type, name');
    const here = "table_schema = 'test'";
    return [
      ...(await this.query(
        `SELECT table_name, column_name, column_type, is_nullable, collation_name
           FROM information_schema.columns WHERE ${here} ORDER BY table_name, column_name`,
      )),
      ...(await this.query(
        `SELECT table_name, index_name, seq_in_index, column_name, non_unique
           FROM information_schema.statistics WHERE ${here} ORDER BY table_name, index_name, seq_in_index`,
      )),
      ...(await this.query(
        `SELECT table_name, constraint_name, referenced_table_name, delete_rule
           FROM information_schema.referential_constraints
          WHERE constraint_schema = 'test' ORDER BY table_name, constraint_name`,
      )),
    ];
  }

  /** What the engine itself says of its files; empty: nothing is wrong. */
  async faults(): Promise<string[]> {
    if (this.isServer) return [];
    const checks = await this.query('PRAGMA integrity_check');
    const orphans = await this.query('PRAGMA foreign_key_check');
    const said = checks.map((row) => String(Object.values(row)[0]));
    return [...said.filter((line) => line !== 'ok'), ...orphans.map((row) => JSON.stringify(row))];
  }

  /** Whether the database's file was made; a server's database is always there. */
  exists(): boolean {
    return this.isServer || existsSync(this.file);
  }

  /** An empty database again; no process of the service may be running. */
  async empty(): Promise<void> {
    if (this.server) {
      await this.server.execute('DROP DATABASE test');
      await this.server.execute('CREATE DATABASE test');
      return;
    }
    for (const name of readdirSync(this.directory)) {
      if (name.startsWith('accounts.sqlite')) rmSync(join(this.directory, name));
    }
  }

  async close(): Promise<void> {
    await this.server?.close();
    removeDirectory(this.directory);
  }

  get isServer(): boolean {
    return this.url.startsWith('mysql:');
  }

  private get file(): string {
    return join(this.directory, 'accounts.sqlite');
  }

  private queryFile(sql: string): Row[] {
    const database = new DatabaseSync(this.file, { timeout: 5000 });
    try {
      return database.prepare(sql).all().map(asRecord);
    } finally {
      database.close();
    }
  }

  private async queryServer(sql: string): Promise<Row[]> {
    const connection = await createConnection(this.url);
    try {
      // On one node of a cluster: what was acknowledged by the others is seen too.
      if (!this.server) await connection.query('SET SESSION wsrep_sync_wait = 1');
      const [rows] = await connection.query(sql);
      return Array.isArray(rows) ? rows.map(asRecord) : [];
    } finally {
      connection.destroy();
    }
  }
}

function text(row: Row, column: string): string {
  return asString(row[column]);
}

function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}
