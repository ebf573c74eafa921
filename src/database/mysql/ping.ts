import type { PoolOptions } from 'mysql2';
import { createConnection } from 'mysql2/promise';

const TIMEOUT_MS = 1000;

/** Sends DO, since a cluster member that is not primary answers pings, and can answer SELECT 1. */
export async function ping({ host, port, user, password, ssl, stream }: PoolOptions): Promise<void> {
  const login = { host, port, user, password, ssl, stream };
  const connection = await createConnection({ ...login, connectTimeout: TIMEOUT_MS });
  try {
    await connection.query({ sql: 'DO 1', timeout: TIMEOUT_MS });
  } finally {
    connection.destroy();
  }
}
