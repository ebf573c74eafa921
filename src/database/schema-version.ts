import { type DataSource, QueryFailedError } from 'typeorm';

/** Ignores migrations of newer versions. Only reads, unlike TypeORM's own check, which creates its table. */
export async function isSchemaUpToDate(dataSource: DataSource): Promise<boolean> {
  const names = dataSource.migrations.map((migration) => migration.name ?? migration.constructor.name);
  try {
    const rows = await dataSource.query<{ applied: number }[]>(
      `SELECT COUNT(*) AS applied FROM migrations WHERE name IN (${names.map(() => '?').join(', ')})`,
      names,
    );
    return Number(rows[0]?.applied) === names.length;
  } catch (error) {
    if (isMissingTable(error)) return false;
    throw error;
  }
}

/** Tells of an up-to-date schema whether a newer version has changed it further. */
export async function isSchemaNewer(dataSource: DataSource): Promise<boolean> {
  const rows = await dataSource.query<{ applied: number }[]>('SELECT COUNT(*) AS applied FROM migrations');
  return Number(rows[0]?.applied) > dataSource.migrations.length;
}

const ER_NO_SUCH_TABLE = 1146;

function isMissingTable(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { errno, message } = error.driverError as { errno?: number; message: string };
  return errno === ER_NO_SUCH_TABLE || message.startsWith('no such table');
}
