import { text } from 'node:stream/consumers';
import { Logger } from '@nestjs/common';
import { afterAll, describe, expect, it } from 'vitest';
import { streamList } from './list-stream.js';
import { ReadGate, type ReadPage } from './read-gate.js';

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

function aStream(readPage: ReadPage) {
  return streamList({
    document: { list: [] },
    first: { rows: [0], next: { order: 1, id: '' } },
    readPage,
    readAfter: async ({ order }) => {
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
    let document = '';
    for await (const chunk of aStream(gate.readPage)) {
      held.push(gate.slots.held);
      document += String(chunk);
    }
    expect(JSON.parse(document)).toEqual({ list: [0, 1, 2, 3, 4] });
    expect(gate.slots.taken).toBeGreaterThanOrEqual(PAGES);
    expect(held).toEqual(held.map(() => 0));
  });

  it('begins at once, also while no slot is free', async () => {
    const chunks = aStream(() => new Promise<never>(() => undefined))[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe('{"list":[0');
  });

  it('is finished before many others of the same principal begin', async () => {
    const gate = new ReadGate();
    const reader = { key: 'ada', hasLeft: () => false };
    const readPage: ReadPage = (work) => gate.runPage(reader, work);
    let inProgress = 0;
    let most = 0;
    const read = async (): Promise<void> => {
      const stream = await gate.run(reader, async () => {
        most = Math.max(most, ++inProgress);
        return aStream(readPage);
      });
      await text(stream);
      inProgress -= 1;
    };
    await Promise.all(Array.from({ length: 200 }, read));
    expect(most).toBeLessThanOrEqual(2 * 8);
  });

  it('reads no further page after the client has left', async () => {
    const gate = aGate();
    const chunks = aStream(gate.readPage)[Symbol.asyncIterator]();
    await chunks.next();
    await chunks.return?.();
    const { taken } = gate.slots;
    await new Promise((resolve) => setImmediate(resolve));
    expect(gate.slots).toEqual({ held: 0, taken });
    expect(taken).toBeLessThan(PAGES);
  });
});
