import { describe, expect, it } from 'vitest';
import { parseTraceparent } from './spans.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('traceparent', () => {
  it.each([
    [`00-${TRACE}-${PARENT}-01`, true],
    [`00-${TRACE}-${PARENT}-00`, false],
    [`00-${TRACE}-${PARENT}-03`, true],
    // A later version may add fields after those of version 00.
    [`01-${TRACE}-${PARENT}-01`, true],
    [`cc-${TRACE}-${PARENT}-01-what-the-future-brings`, true],
  ])('reads %s', (header, sampled) => {
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: PARENT, sampled });
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-01-`,
    `01-${TRACE}-${PARENT}-01more`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-0g`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    ` 00-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01\n`,
    // Node joins a header that was sent twice like this.
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    `01-${TRACE}-${PARENT}-01, 01-${TRACE}-${PARENT}-01`,
  ])('refuses %j', (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});
