import { existsSync } from 'node:fs';
import { temporaryDirectory } from '../../../tooling/processes/at-exit.js';
import { MariaDbServer } from '../../../tooling/servers/mariadb.js';
import type { Row } from '../../support/database.js';
import type { Engine } from '../../support/engine.js';
import { anInstallation, type Installation } from '../../support/installation.js';
import type { Snapshot } from './snapshot.js';
import { recordedEvent } from './recorded.js';

export const ENGINES: readonly Engine[] = ['sqlite', 'mariadb'];

/** What outlives the processes of the service, on either engine, seen as a whole. */
export class Storage {
  private constructor(
    readonly installation: Installation,
    readonly isServer: boolean,
    private readonly ownServer?: MariaDbServer,
  ) {}

  /** @param options of its MariaDB server */
  static async on(engine: Engine, options: Parameters<typeof MariaDbServer.start>[0] = {}): Promise<Storage> {
    const server = engine === 'mariadb' ? await MariaDbServer.start(options) : undefined;
    const directory = temporaryDirectory('storage');
    const installation = await anInstallation({ engine, mariadbPort: server?.port, directory });
    return new Storage(installation, engine === 'mariadb', server);
  }

  /** On a server that another test starts and ends. */
  static async at(mariadbPort: number): Promise<Storage> {
    return new Storage(await anInstallation({ engine: 'mariadb', mariadbPort }), true);
  }

  get server(): MariaDbServer {
    if (!this.ownServer) throw new Error('this storage has no server of its own');
    return this.ownServer;
  }

  query(sql: string, values?: Parameters<Installation['db']['query']>[1]): Promise<Row[]> {
    return this.installation.db.query(sql, values);
  }

  /** To be read when nothing is under way. */
  async snapshot(): Promise<Snapshot> {
    return {
      users: await this.query('SELECT id, email, disabled_at AS disabledAt FROM users'),
      orgs: await this.query('SELECT id, deleted_at AS deletedAt, purge_began_at AS purgeBeganAt FROM orgs'),
      members: await this.query('SELECT org_id AS orgId, user_id AS userId, role FROM members'),
      sessions: await this.query(
        'SELECT id, user_id AS userId, login_id AS loginId, branch_id AS branchId, code_hash AS codeHash FROM sessions',
      ),
      events: (await this.query('SELECT * FROM events')).map(recordedEvent),
    } as Snapshot;
  }

  /** Every table, column, index and foreign key, and which migrations are noted as applied. */
  async schema(): Promise<Row[]> {
    if (!this.isServer) return this.query('SELECT type, name, sql FROM sqlite_master ORDER BY type, name');
    return [
      ...(await this.query(
        `SELECT table_name, column_name, column_type, is_nullable, collation_name
           FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, column_name`,
      )),
      ...(await this.query(
        `SELECT table_name, index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics
          WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index`,
      )),
      ...(await this.query(
        `SELECT table_name, constraint_name, referenced_table_name, delete_rule
           FROM information_schema.referential_constraints
          WHERE constraint_schema = DATABASE() ORDER BY table_name, constraint_name`,
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
    return this.isServer || existsSync(this.installation.db.url.replace('sqlite:', ''));
  }

  async close(): Promise<void> {
    await this.installation.remove();
    await this.ownServer?.close();
  }
}
