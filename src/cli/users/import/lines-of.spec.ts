import { describe, expect, it } from 'vitest';
import { linesOf } from './lines-of.js';

async function read(...chunks: string[]): Promise<[number, string | undefined][]> {
  async function* stream(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: [number, string | undefined][] = [];
  for await (const { number, bytes } of linesOf(stream())) lines.push([number, bytes?.toString()]);
  return lines;
}

describe('the lines of a stream', () => {
  it('are numbered, whatever the chunks', async () => {
    const lines = [
      [1, 'one'],
      [2, ''],
      [3, 'three'],
    ];
    expect(await read('one\n\nthree')).toEqual(lines);
    expect(await read('one\n\nthree\n')).toEqual(lines);
    expect(await read(...'one\n\nthree\n')).toEqual(lines);
    expect(await read()).toEqual([]);
    expect(await read('\n')).toEqual([[1, '']]);
  });

  it('are at most 4096 bytes long: of a longer one nothing is kept, and the next one is read', async () => {
    const long = 'x'.repeat(4096);
    expect(await read(`${long}\n`, `${long}x`, `${long}\nnext`)).toEqual([
      [1, long],
      [2, undefined],
      [3, 'next'],
    ]);
    expect(await read(`${long}x`)).toEqual([[1, undefined]]);
  });
});
