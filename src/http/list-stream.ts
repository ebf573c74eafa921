import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type Logger, StreamableFile } from '@nestjs/common';
import { describeError } from '../telemetry/logging/logger.js';
import type { Position } from './pages.js';
import { ClientLeftError, type ReadPage } from './read-gate.js';

export interface ListPage<Row> {
  rows: Row[];
  next?: Position;
}

interface JsonStream {
  readPage: ReadPage;
  logger: Logger;
  failure: object;
}

interface ListStream<Row> extends JsonStream {
  document: object;
  first: ListPage<Row>;
  readAfter: (after: Position) => Promise<ListPage<Row> | undefined>;
}

export function streamList<Row>(list: ListStream<Row>): StreamableFile {
  return streamJson(piecesOf(list), list);
}

async function* piecesOf<Row>(list: ListStream<Row>): AsyncGenerator<string | undefined> {
  const { document, first, readAfter } = list;
  const frame = JSON.stringify(document);
  const middle = frame.lastIndexOf('[]') + 1;
  yield frame.slice(0, middle) + inner(first.rows);
  for (let { next } = first; next;) {
    const page = await readAfter(next);
    yield page && (page.rows.length > 0 ? `,${inner(page.rows)}` : '');
    next = page?.next;
  }
  yield frame.slice(middle);
}

/** Reads no faster than the client, to limit memory. Closes the connection at a failure or an undefined piece. */
export function streamJson(pieces: AsyncIterator<string | undefined>, of: JsonStream): StreamableFile {
  const stream = Readable.from(checked(pieces, of), { objectMode: false, highWaterMark: 0 });
  return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
}

async function* checked(
  pieces: AsyncIterator<string | undefined>,
  { readPage, logger, failure }: JsonStream,
): AsyncGenerator<string> {
  const gone = new Error('The session or the access of the reader has ended');
  try {
    for (;;) {
      const { done, value: piece } = await readPage(() => pieces.next());
      if (done) return;
      if (piece === undefined) throw gone;
      if (piece !== '') yield piece;
      await turn();
    }
  } catch (error) {
    if (!(error instanceof ClientLeftError))
      logger[error === gone ? 'log' : 'warn']({ ...failure, err: describeError(error) });
    throw error;
  } finally {
    await pieces.return?.();
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/** SQLite answers within a turn of the event loop, so without turns many streams would starve other requests. */
function turn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

function inner(rows: readonly unknown[]): string {
  return JSON.stringify(rows).slice(1, -1);
}
