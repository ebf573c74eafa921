import type { DataSource } from 'typeorm';

export type EngineName = 'sqlite' | 'mysql' | 'mariadb';

export interface Engine {
  name: EngineName;
  version: string;
}

export async function engineOf(dataSource: DataSource): Promise<Engine> {
  const { type } = dataSource.options;
  const isSqlite = type === 'better-sqlite3';
  const [row] = await dataSource.query<{ version: string }[]>(
    isSqlite ? 'SELECT sqlite_version() AS version' : 'SELECT VERSION() AS version',
  );
  return { name: isSqlite ? 'sqlite' : type === 'mariadb' ? 'mariadb' : 'mysql', version: row!.version };
}
