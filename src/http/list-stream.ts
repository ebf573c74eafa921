import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type Logger, StreamableFile } from '@nestjs/common';
import { describeError } from '../telemetry/logging/describe-error.js';
import type { Position } from './pages.js';

export interface ListPage<Row> {
  rows: Row[];
  /** undefined on the last page */
  next?: Position;
}

export interface ListStream<Row> {
  /** the document with an empty list, which comes last in it */
  document: object;
  first: ListPage<Row>;
  /** @returns undefined once the reader's access has ended */
  readAfter: (after: Position) => Promise<ListPage<Row> | undefined>;
  logger: Logger;
  /** is logged when the list is cut off */
  failure: object;
}

class ReaderGoneError extends Error {
  constructor() {
    super('The session or the access of the reader has ended');
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/** Streams a list page by page, as fast as the client reads, to bound memory. A stream that fails closes its connection. */
export function streamList<Row>(list: ListStream<Row>): StreamableFile {
  const stream = Readable.from(chunksOf(list), { objectMode: false, highWaterMark: 0 });
  return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
}

async function* chunksOf<Row>(list: ListStream<Row>): AsyncGenerator<string> {
  const frame = JSON.stringify(list.document);
  const middle = frame.lastIndexOf('[]') + 1;
  let page = list.first;
  yield frame.slice(0, middle) + inner(page.rows);
  while (page.next) {
    page = await readPage(list, page.next);
    if (page.rows.length > 0) yield `,${inner(page.rows)}`;
  }
  yield frame.slice(middle);
}

async function readPage<Row>(
  { readAfter, logger, failure }: ListStream<Row>,
  after: Position,
): Promise<ListPage<Row>> {
  try {
    await turn();
    const page = await readAfter(after);
    if (!page) throw new ReaderGoneError();
    return page;
  } catch (error) {
    const entry = { ...failure, err: describeError(error) };
    if (error instanceof ReaderGoneError) logger.log(entry);
    else logger.warn(entry);
    throw error;
  }
}

// Pages of all streams take a turn of the event loop each: SQLite answers within a turn, and many streams would starve other
// requests.
function turn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

function inner(rows: readonly unknown[]): string {
  return JSON.stringify(rows).slice(1, -1);
}
