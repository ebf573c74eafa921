import { QueryFailedError } from 'typeorm';
import { expect, it } from 'vitest';
import { LostConflictError, UnknownOutcomeError } from '../database/transactions/database-errors.js';
import { explainFailure } from './start-failure.js';

it.each([UnknownOutcomeError, LostConflictError])('shows what the database said: %o', (Wrapper) => {
  const said = Object.assign(new Error('the connection was lost'), {
    code: 'PROTOCOL_CONNECTION_LOST',
    fatal: true,
  });
  const error = new Wrapper(new QueryFailedError('UPDATE t SET x = 1', [], said));

  expect(explainFailure(error)).toEqual([
    'DATABASE_URL: the database cannot be opened (the connection was lost)',
  ]);
});

it.each([
  { sqlState: 'HY000', errno: 1267 },
  { code: 'ERR_SQLITE_ERROR', errcode: 1 },
])('does not take a refused statement for a database that cannot be opened: %o', (driver) => {
  const said = Object.assign(new Error('Illegal mix of collations'), driver);

  expect(explainFailure(new QueryFailedError('SELECT 1', [], said))).toEqual([
    'error: the database refused a statement of Accounts (Illegal mix of collations)',
  ]);
});
