import { Logger } from '@nestjs/common';
import { afterAll, describe, expect, it } from 'vitest';
import { streamList } from './list-stream.js';
import type { ReadPage } from './read-gate.js';

const PAGES = 5;

/** Counts the slots that are held, and those that were. */
function aGate() {
  const slots = { held: 0, taken: 0 };
  const readPage: ReadPage = async (work) => {
    slots.held += 1;
    slots.taken += 1;
    try {
      return await work();
    } finally {
      slots.held -= 1;
    }
  };
  return { slots, readPage };
}

function aStream({ slots, readPage }: ReturnType<typeof aGate>) {
  return streamList({
    document: { list: [] },
    first: { rows: [0], next: { order: 1, id: '' } },
    readPage,
    readAfter: async ({ order }) => {
      expect(slots.held).toBe(1);
      return { rows: [order], ...(order < PAGES - 1 && { next: { order: order + 1, id: '' } }) };
    },
    logger: new Logger(),
    failure: {},
  }).getStream();
}

Logger.overrideLogger(false);
afterAll(() => Logger.overrideLogger(['error', 'warn']));

describe('a streamed list', () => {
  it('holds a slot while it reads a page, and none while the client reads', async () => {
    const gate = aGate();
    const held: number[] = [];
    let text = '';
    for await (const chunk of aStream(gate)) {
      held.push(gate.slots.held);
      text += String(chunk);
    }
    expect(JSON.parse(text)).toEqual({ list: [0, 1, 2, 3, 4] });
    expect(gate.slots.taken).toBeGreaterThanOrEqual(PAGES);
    expect(held).toEqual(held.map(() => 0));
  });

  it('reads no further page after the client has left', async () => {
    const gate = aGate();
    const chunks = aStream(gate)[Symbol.asyncIterator]();
    await chunks.next();
    await chunks.return?.();
    const { taken } = gate.slots;
    await new Promise((resolve) => setImmediate(resolve));
    expect(gate.slots).toEqual({ held: 0, taken });
    expect(taken).toBeLessThan(PAGES);
  });
});
