import { QueryFailedError } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { describeError, rootCause } from './logger.js';

const EMAIL = 'ada@example.com';
const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA';
const SQL = 'INSERT INTO users (email, password_hash) VALUES (?, ?)';

function failedQuery(): QueryFailedError {
  const driverError = Object.assign(new Error(`Duplicate entry '${EMAIL}' and '${HASH}'`), {
    code: 'ER_DUP_ENTRY',
    errno: 1062,
    sql: `INSERT INTO users (email, password_hash) VALUES ('${EMAIL}', '${HASH}')`,
  });
  return new QueryFailedError(SQL, [EMAIL, HASH], driverError);
}

describe('the description of an error', () => {
  it('keeps code, statement and stack of a failed query, and none of its values', () => {
    const description = describeError(failedQuery());

    expect(description).toMatchObject({
      type: 'QueryFailedError',
      code: 'ER_DUP_ENTRY',
      errno: 1062,
      query: SQL,
      stack: expect.stringContaining('describe-error.spec'),
    });
    expect(JSON.stringify(description)).not.toContain(EMAIL);
    expect(JSON.stringify(description)).not.toContain(HASH);
  });

  it('hides the values in errors caused by a failed query, too', () => {
    const error = new Error('The account cannot be stored', { cause: failedQuery() });

    const description = JSON.stringify(describeError(error));

    expect(description).toContain('The account cannot be stored');
    expect(description).toContain('ER_DUP_ENTRY');
    expect(description).not.toContain(EMAIL);
    expect(description).not.toContain(HASH);
  });

  it('reveals nothing of a thrown value that is not an Error', () => {
    expect(describeError(HASH)).toEqual({ type: 'string' });
    expect(describeError(undefined)).toBeUndefined();
  });
});

describe('the root cause of an error', () => {
  const sqliteError = Object.assign(new Error(EMAIL), { code: 'ERR_SQLITE_ERROR', errcode: 13 });

  it.each([
    ['a failed query', failedQuery(), 'ER_DUP_ENTRY'],
    ['what a failed query caused', new Error('outer', { cause: failedQuery() }), 'ER_DUP_ENTRY'],
    ['a full disk', new QueryFailedError(SQL, [EMAIL], sqliteError), 'ERR_SQLITE_ERROR 13'],
    ['an error without a code', new TypeError(EMAIL), 'TypeError'],
    ['what is no error', HASH, 'string'],
  ])('of %s is one word of it', (_what, error, cause) => {
    expect(rootCause(error)).toBe(cause);
  });
});
