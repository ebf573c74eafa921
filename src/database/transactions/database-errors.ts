import { QueryFailedError } from 'typeorm';
import { Logger } from '@nestjs/common';
import { UnavailableError } from '../../problems/problem.js';

type DriverError = NodeJS.ErrnoException & { fatal?: boolean; errcode?: number };

/** MySQL and MariaDB report the name of the key, SQLite reports `table.column, table.column`. */
export interface UniqueKey {
  name: string;
  columns: string;
}

const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT_FOREIGNKEY = 787;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
const SQLITE_CONSTRAINT_UNIQUE = 2067;

const ER_DUP_ENTRY = 1062;
const ER_NO_SUCH_TABLE = 1146;
const ER_NO_REFERENCED_ROW = 1452;
const ER_TABLEACCESS_DENIED = 1142;
const ER_COLUMNACCESS_DENIED = 1143;
const ER_LOCK_WAIT_TIMEOUT = 1205;

const setOf = (named: Record<string, number>): Set<number> => new Set(Object.values(named));

const CONFLICT_ERRNOS = setOf({ CHECKREAD: 1020, ER_LOCK_WAIT_TIMEOUT, LOCK_DEADLOCK: 1213 });

export function isUniqueViolation(error: unknown, key: UniqueKey): boolean {
  const cause = driverError(error);
  if (!cause) return false;
  if (cause.errno === ER_DUP_ENTRY) return new RegExp(`'(?:\\w+\\.)?${key.name}'`).test(cause.message);
  return (
    (cause.errcode === SQLITE_CONSTRAINT_UNIQUE || cause.errcode === SQLITE_CONSTRAINT_PRIMARYKEY) &&
    cause.message.endsWith(key.columns)
  );
}

export function isForeignKeyViolation(error: unknown): boolean {
  const cause = driverError(error);
  return cause?.errno === ER_NO_REFERENCED_ROW || cause?.errcode === SQLITE_CONSTRAINT_FOREIGNKEY;
}

export function isMissingTable(error: unknown): boolean {
  const cause = driverError(error);
  return cause?.errno === ER_NO_SUCH_TABLE || cause?.message.startsWith('no such table') === true;
}

type ErrorTest = (error: unknown) => boolean;

export const isTableDenied: ErrorTest = (error) => driverError(error)?.errno === ER_TABLEACCESS_DENIED;
export const isColumnDenied: ErrorTest = (error) => driverError(error)?.errno === ER_COLUMNACCESS_DENIED;
export const isLockWaitTimeout: ErrorTest = (error) => causeOf(error)?.errno === ER_LOCK_WAIT_TIMEOUT;
export const isFileBusy: ErrorTest = (error) => ((driverError(error)?.errcode ?? 0) & 0xff) === SQLITE_BUSY;
export const isLostConflict: ErrorTest = (error) =>
  CONFLICT_ERRNOS.has(driverError(error)?.errno ?? 0) || isFileBusy(error);

const SQLITE_FULL = 13;
const SQLITE_IOERR_SHMSIZE = 4874;
const FULL_ERRNOS = setOf({ DISK_FULL: 1021, RECORD_FILE_FULL: 1114 });
const NO_SPACE_ON_SERVER = /\b(?:errno|errcode|error):? 28\b/i;

export function isStorageFull(error: unknown): boolean {
  const cause = driverError(error);
  if (!cause) return false;
  if (cause.errcode !== undefined) {
    return cause.errcode === SQLITE_FULL || cause.errcode === SQLITE_IOERR_SHMSIZE;
  }
  if (cause.errno === undefined || isOutcomeUnknown(error)) return false;
  return FULL_ERRNOS.has(cause.errno) || NO_SPACE_ON_SERVER.test(cause.message);
}

export const SILENCE = 'PROTOCOL_SEQUENCE_TIMEOUT';
const ABSENT_CODES = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENOTFOUND']);
const UNREACHABLE_CODES = new Set([
  ...ABSENT_CODES,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EAI_AGAIN',
  'PROTOCOL_CONNECTION_LOST',
  SILENCE,
  'NO_DATABASE_HOST',
  'POOL_ACQUIRE_TIMEOUT',
]);
/** A Galera node that is not primary reports UNKNOWN_COM_ERROR. */
const UNREACHABLE_ERRNOS = setOf({ CON_COUNT_ERROR: 1040, UNKNOWN_COM_ERROR: 1047, SERVER_SHUTDOWN: 1053 });
const OUTCOME_UNKNOWN_ERRNOS = setOf({
  ERROR_DURING_COMMIT: 1180,
  CONNECTION_KILLED: 1927,
  MARIADB_STATEMENT_TIMEOUT: 1969,
  MYSQL_QUERY_TIMEOUT: 3024,
});
const OPTION_PREVENTS_STATEMENT = 1290;
const READ_ONLY_MODE = 1836;
const UNAVAILABLE_ERRNOS = setOf({
  DISK_FULL: 1021,
  OUT_OF_RESOURCES: 1041,
  DBACCESS_DENIED_ERROR: 1044,
  ER_TABLEACCESS_DENIED,
  ER_COLUMNACCESS_DENIED,
  USER_LIMIT_REACHED: 1226,
  OPTION_PREVENTS_STATEMENT,
  CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 1792,
  READ_ONLY_MODE,
});
const SQLITE_UNAVAILABLE = setOf({ READONLY: 8, IOERR: 10, CORRUPT: 11, SQLITE_FULL, CANTOPEN: 14 });

/** Other options, such as skip-grant-tables, prevent statements with the same number. */
export function isReadOnly(error: unknown): boolean {
  const cause = driverError(error);
  if (cause?.errno === READ_ONLY_MODE) return true;
  return cause?.errno === OPTION_PREVENTS_STATEMENT && cause.message.includes('read-only');
}

/** mysql2 reports one code for all failed TLS handshakes, also if the connection was lost. */
const CONNECTION_LOST = /ECONNRESET|EPIPE|ETIMEDOUT|socket disconnected before secure TLS connection/;
/** MariaDB denies access if it requires TLS. */
const NEED_TLS = setOf({ ACCESS_DENIED_ERROR: 1045, SECURE_TRANSPORT_REQUIRED: 3159 });

/** Returns true if the server has no TLS or its certificate is invalid, so that a retry does not help. */
export function isTlsRefusal(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause?.code === 'HANDSHAKE_NO_SSL_SUPPORT') return true;
  return cause?.code === 'HANDSHAKE_SSL_ERROR' && !CONNECTION_LOST.test(cause.message);
}

export const mayNeedTls: ErrorTest = (error) => NEED_TLS.has(causeOf(error)?.errno ?? 0);

export function isDatabaseUnreachable(error: unknown): boolean {
  const cause = causeOf(error);
  if (!cause) return false;
  if (cause.code === 'HANDSHAKE_SSL_ERROR') return !isTlsRefusal(error);
  return UNREACHABLE_CODES.has(cause.code ?? '') || UNREACHABLE_ERRNOS.has(cause.errno ?? 0);
}

/** Returns false for a server that is slow or cannot serve yet. */
export const isDatabaseAbsent: ErrorTest = (error) => ABSENT_CODES.has(causeOf(error)?.code ?? '');

export function isDatabaseUnavailable(error: unknown): boolean {
  if (isDatabaseUnreachable(error) || isTlsRefusal(error)) return true;
  const cause = causeOf(error);
  if (!cause) return false;
  return (
    cause.fatal === true ||
    OUTCOME_UNKNOWN_ERRNOS.has(cause.errno ?? 0) ||
    UNAVAILABLE_ERRNOS.has(cause.errno ?? 0) ||
    SQLITE_UNAVAILABLE.has((cause.errcode ?? 0) & 0xff)
  );
}

/** Returns false if the failure came before the statement was sent. */
function isOutcomeUnknown(error: unknown): boolean {
  const cause = driverError(error);
  if (!cause) return false;
  return cause.fatal === true || isDatabaseUnreachable(error) || OUTCOME_UNKNOWN_ERRNOS.has(cause.errno ?? 0);
}

export function databaseError(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

function driverError(error: unknown): DriverError | undefined {
  return error instanceof QueryFailedError ? (error.driverError as DriverError) : undefined;
}

function causeOf(error: unknown): DriverError | undefined {
  return driverError(error) ?? (error instanceof Error ? error : undefined);
}

// `requests` and `maintenance` wait for an absent database; `command` and `inspection` fail at once. `requests` and
// `command` limit the time of a statement. `inspection` only reads.
export type ConnectionPurpose = 'requests' | 'command' | 'maintenance' | 'inspection';

export const ACQUIRE_TIMEOUT_MS = 3000;

export function acquireTimeoutError(): NodeJS.ErrnoException {
  return databaseError('POOL_ACQUIRE_TIMEOUT', 'No database connection became free in time');
}

export class LostConflictError extends UnavailableError {
  constructor(cause: unknown) {
    super('Too many concurrent changes of the same data. Repeat the request.', 1, cause);
  }
}

export class UnknownOutcomeError extends UnavailableError {
  constructor(cause: unknown) {
    super('The database did not respond. It is unknown whether the request took effect.', 1, cause);
  }
}

export async function detectUnknownOutcome<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw isOutcomeUnknown(error) ? new UnknownOutcomeError(error) : error;
  }
}

/** The heartbeat of an instance is a small write, which may succeed although the disk is full. */
const REFUSALS = {
  full: { rememberedMs: 60_000, msg: 'the disk of the database is full: writes are refused' },
  read_only: {
    rememberedMs: 20_000,
    msg: 'the database is read-only: writes are refused; if it is the primary, run SET GLOBAL read_only = 0',
  },
};

class RefusedWrites {
  private reason: keyof typeof REFUSALS = 'full';
  private lastAt = Number.NEGATIVE_INFINITY;

  get state(): 'ok' | 'full' | 'read_only' {
    return performance.now() - this.lastAt < REFUSALS[this.reason].rememberedMs ? this.reason : 'ok';
  }

  noteFailure(error: unknown): void {
    const reason = isStorageFull(error) ? 'full' : isReadOnly(error) ? 'read_only' : undefined;
    if (!reason) return;
    if (this.state !== reason) new Logger('Database').error(REFUSALS[reason].msg);
    this.reason = reason;
    this.lastAt = performance.now();
  }
}

export const refusedWrites = new RefusedWrites();
