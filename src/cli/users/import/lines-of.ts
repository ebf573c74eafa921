/** more than any row needs */
const MAX_LINE_BYTES = 4096;
const LINE_FEED = 0x0a;

export interface Line {
  /** counts from 1 */
  number: number;
  /** undefined if the line is too long */
  bytes: Buffer | undefined;
}

/** Splits a stream into lines; memory holds one at a time. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 1;
  let line = new LineBuffer();
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      line.append(chunk.subarray(from, end));
      yield { number, bytes: line.bytes };
      number += 1;
      line = new LineBuffer();
      from = end + 1;
    }
    line.append(chunk.subarray(from));
  }
  if (line.bytes?.length !== 0) yield { number, bytes: line.bytes };
}

class LineBuffer {
  bytes: Buffer | undefined = Buffer.alloc(0);

  append(part: Buffer): void {
    if (this.bytes === undefined) return;
    const length = this.bytes.length + part.length;
    this.bytes = length > MAX_LINE_BYTES ? undefined : Buffer.concat([this.bytes, part]);
  }
}
