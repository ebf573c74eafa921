import type { PoolConnection, QueryError } from 'mysql2';
import { databaseError } from '../transactions/database-errors.js';

/** makes this limit later than mysql2's own, whose error says more */
const MARGIN_MS = 500;

// Ends in time whatever becomes of the connection: mysql2 stops its own clock at the first packet of an answer.
export function sendStatement(
  connection: Pick<PoolConnection, 'query'>,
  sql: string,
  values: unknown[],
  timeout: number | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer =
      timeout === undefined ? undefined : setTimeout(() => reject(noAnswer()), timeout + MARGIN_MS);
    connection.query({ sql, timeout }, values, (error: QueryError | null, result: unknown) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    });
  });
}

function noAnswer(): Error {
  return databaseError('PROTOCOL_SEQUENCE_TIMEOUT', 'The rest of the answer did not come in time');
}
