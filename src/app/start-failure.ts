import { QueryFailedError } from 'typeorm';
import { SigningKeysError } from '../auth/tokens/signing-keys.js';
import { ConfigurationError } from '../config/variables.js';
import { isDatabaseUnavailable, isReadOnly, isTlsRefusal } from '../database/transactions/database-errors.js';
import { DatabaseFileError } from '../database/sqlite/database-file.js';
import { UnavailableError } from '../problems/problem.js';
import { sourceFrames } from '../telemetry/logging/source-frames.js';

export function explainFailure(error: unknown): string[] {
  if (error instanceof ConfigurationError) return error.problems;
  if (error instanceof SigningKeysError) return [error.message];
  if (error instanceof UnavailableError && error.cause !== undefined) return explainFailure(error.cause);
  if (isTlsRefusal(error)) {
    return [`DATABASE_SSL: cannot connect to the database over TLS (${(error as Error).message})`];
  }
  if (isReadOnly(error)) return [`DATABASE_URL: the database is read-only (${(error as Error).message})`];
  if (isDatabaseUnavailable(error) || isDatabaseError(error)) {
    return [`DATABASE_URL: the database cannot be opened (${(error as Error).message})`];
  }
  if (error instanceof QueryFailedError) {
    return [`error: the database refused a statement of Accounts (${error.message})`];
  }
  return [error instanceof Error ? sourceFrames(error.stack ?? error.message) : String(error)];
}

function isDatabaseError(error: unknown): boolean {
  return (
    error instanceof DatabaseFileError ||
    (error instanceof Error &&
      !(error instanceof QueryFailedError) &&
      ('sqlState' in error || ('code' in error && error.code === 'ERR_SQLITE_ERROR')))
  );
}
