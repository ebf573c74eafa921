import type { PoolConnection } from 'mysql2';

// Awaited before the connection is used: mysql2 starts the time limit of a statement when it is sent, and drops without
// an error what waits on a destroyed connection, so a statement behind a setting that hangs would wait for ever.
export async function applySettings(
  connection: PoolConnection,
  settings: readonly string[],
  timeoutMs: number | undefined,
): Promise<void> {
  try {
    await Promise.all(settings.map((sql) => apply(connection, { sql, timeout: timeoutMs })));
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function apply(connection: PoolConnection, setting: { sql: string; timeout?: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(setting, (error) => (error ? reject(error) : resolve()));
  });
}
