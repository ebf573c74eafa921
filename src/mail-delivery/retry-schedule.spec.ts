import { describe, expect, it } from 'vitest';
import { LEASE_MS, retryAfterMs } from './mail-worker.js';
import { SEND_TIMEOUT_MS } from '../mail/smtp-sender.js';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

describe('a mail that could not be sent', () => {
  it.each([
    [1, SECOND],
    [2, 5 * SECOND],
    [3, 30 * SECOND],
    [4, 120 * SECOND],
    [5, 600 * SECOND],
    [6, HOUR],
    [29, HOUR],
    [30, undefined],
  ])('waits after attempt %i', (attempts, pauseMs) => {
    expect(retryAfterMs(attempts)).toBe(pauseMs);
  });

  // Else another instance sends it while the first attempt continues.
  it('stays leased for longer than an attempt with its statements may take', () => {
    expect(LEASE_MS).toBeGreaterThanOrEqual(SEND_TIMEOUT_MS + 10 * SECOND);
  });
});
