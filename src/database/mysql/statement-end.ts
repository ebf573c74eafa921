import type { QueryError } from 'mysql2';
import { databaseError } from '../transactions/database-errors.js';

export type StatementEnd = (error: QueryError | null, ...results: unknown[]) => void;

/** makes this limit later than mysql2's own, whose error says more */
const MARGIN_MS = 500;

export function once(end: StatementEnd): StatementEnd {
  let ended = false;
  return (...outcome) => {
    if (ended) return;
    ended = true;
    end(...outcome);
  };
}

// Ends a statement in time whatever becomes of its connection: mysql2 stops its own clock at the first packet of an
// answer, and does not start it for a statement that waits behind another one.
export function endInTime(end: StatementEnd, statement: unknown): StatementEnd {
  const timeoutMs = timeoutOf(statement);
  if (timeoutMs === undefined) return end;
  const timer = setTimeout(() => {
    end(
      databaseError('PROTOCOL_SEQUENCE_TIMEOUT', 'The rest of the answer did not come in time') as QueryError,
    );
  }, timeoutMs + MARGIN_MS);
  return (...outcome) => {
    clearTimeout(timer);
    end(...outcome);
  };
}

function timeoutOf(statement: unknown): number | undefined {
  return typeof statement === 'object' && statement !== null && 'timeout' in statement
    ? (statement.timeout as number | undefined)
    : undefined;
}
