import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { databaseError } from '../database/transactions/database-errors.js';
import { UnavailableError } from '../problems/problem.js';
import { logUnavailable } from './outage-log.js';

interface Line {
  msg: string;
  requestId?: string;
  err?: { code: string; stack: string };
  cause?: string;
  count?: number;
}

const lines: Line[] = [];
const logger = new Logger('a test');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  vi.spyOn(logger, 'warn').mockImplementation((line: unknown) => void lines.push(line as Line));
});
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
  lines.length = 0;
});

const fail = (requestId: string, code?: string, text = 'unreachable') =>
  logUnavailable(new UnavailableError(text, 1, code && databaseError(code, 'refused')), requestId, logger);

it('logs the stack of the first one of a cause, and counts those of the next ten seconds', () => {
  for (let n = 1; n <= 30; n += 1) fail(`request ${n}`, 'ECONNREFUSED');
  vi.advanceTimersByTime(9999);
  fail('request 31', 'ECONNREFUSED');
  expect(lines).toEqual([
    {
      msg: 'unreachable',
      requestId: 'request 1',
      err: expect.objectContaining({ code: 'ECONNREFUSED', stack: expect.stringContaining('outage-log') }),
    },
  ]);
  vi.advanceTimersByTime(1);
  expect(lines.slice(1)).toEqual([{ msg: 'unreachable', cause: 'ECONNREFUSED', count: 30 }]);

  fail('request 32', 'ECONNREFUSED');
  vi.advanceTimersByTime(10_000);
  expect(lines.slice(2)).toMatchObject([{ requestId: 'request 32', err: { code: 'ECONNREFUSED' } }]);
});

it('tells causes apart, and texts', () => {
  for (const n of [1, 2]) {
    fail(`refused ${n}`, 'ECONNREFUSED');
    fail(`lost ${n}`, 'PROTOCOL_CONNECTION_LOST');
    fail(`unknown ${n}`, 'PROTOCOL_CONNECTION_LOST', 'It is unknown whether the request took effect');
    fail(`busy ${n}`, undefined, 'Too many logins right now');
  }
  vi.advanceTimersByTime(10_000);
  expect(lines.map(({ requestId }) => requestId).slice(0, 4)).toEqual([
    'refused 1',
    'lost 1',
    'unknown 1',
    'busy 1',
  ]);
  expect(lines.slice(4).map(({ cause, count }) => [cause, count])).toEqual([
    ['ECONNREFUSED', 1],
    ['PROTOCOL_CONNECTION_LOST', 1],
    ['PROTOCOL_CONNECTION_LOST', 1],
    [undefined, 1],
  ]);
});
