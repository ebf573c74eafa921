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

interface StreamLog {
  logger: Logger;
  failure: object;
}

interface ListStream<Row> extends StreamLog {
  document: object;
  first: ListPage<Row>;
  readPage: ReadPage;
  readAfter: (after: Position) => Promise<ListPage<Row> | undefined>;
}

export function streamList<Row>(list: ListStream<Row>): StreamableFile {
  return streamJson(piecesOf(list), list);
}

async function* piecesOf<Row>(list: ListStream<Row>): AsyncGenerator<string | undefined> {
  const { document, first, readPage, readAfter } = list;
  const frame = JSON.stringify(document);
  const middle = frame.lastIndexOf('[]') + 1;
  yield frame.slice(0, middle) + inner(first.rows);
  for (let after = first.next; after;) {
    const { text, next }: Piece = await readPage(() => readAfter(after!).then(pieceOf));
    yield text;
    after = next;
  }
  yield frame.slice(middle);
}

interface Piece {
  text: string | undefined;
  next?: Position | undefined;
}

function pieceOf<Row>(page: ListPage<Row> | undefined): Piece {
  if (!page) return { text: undefined };
  return { text: page.rows.length > 0 ? `,${inner(page.rows)}` : '', next: page.next };
}

/** Reads no faster than the client, to limit memory. Closes the connection at a failure or an undefined piece. */
export function streamJson(pieces: AsyncIterable<string | undefined>, log: StreamLog): StreamableFile {
  const stream = Readable.from(checked(pieces, log), { objectMode: false, highWaterMark: 0 });
  return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
}

async function* checked(
  pieces: AsyncIterable<string | undefined>,
  { logger, failure }: StreamLog,
): AsyncGenerator<string> {
  const gone = new Error('The session or the access of the reader has ended');
  try {
    for await (const piece of pieces) {
      if (piece === undefined) throw gone;
      if (piece !== '') yield piece;
      await turn();
    }
  } catch (error) {
    if (!(error instanceof ClientLeftError))
      logger[error === gone ? 'log' : 'warn']({ ...failure, err: describeError(error) });
    throw error;
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
