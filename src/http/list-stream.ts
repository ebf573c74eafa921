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

export function streamList<Row>({ document, first, readAfter, ...stream }: ListStream<Row>): StreamableFile {
  const frame = JSON.stringify(document);
  const middle = frame.lastIndexOf('[]') + 1;
  const head = Buffer.from(frame.slice(0, middle) + inner(first.rows));
  return streamJson(head, piecesOf(first.next, readAfter, frame.slice(middle)), stream);
}

/** Keeps no rows and no text while a client reads slowly, but the bytes that are being sent. */
async function* piecesOf<Row>(
  next: Position | undefined,
  readAfter: ListStream<Row>['readAfter'],
  tail: string,
): AsyncGenerator<Buffer | undefined> {
  for (let after = next; after;) {
    const piece: Piece = await readAfter(after).then(pieceOf);
    yield piece.bytes;
    after = piece.next;
  }
  yield Buffer.from(tail);
}

interface Piece {
  bytes: Buffer | undefined;
  next?: Position | undefined;
}

function pieceOf<Row>(page: ListPage<Row> | undefined): Piece {
  if (!page) return { bytes: undefined };
  return { bytes: Buffer.from(page.rows.length > 0 ? `,${inner(page.rows)}` : ''), next: page.next };
}

/**
 * Reads no faster than the client, to limit memory. Closes the connection at a failure or an undefined piece.
 *
 * @param head sent without a slot, because the status goes with it
 */
export function streamJson(
  head: string | Buffer,
  rest: AsyncIterator<string | Buffer | undefined>,
  of: JsonStream,
): StreamableFile {
  const stream = Readable.from(checked([head], rest, of), { objectMode: false, highWaterMark: 0 });
  return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
}

async function* checked(
  head: (string | Buffer)[],
  rest: AsyncIterator<string | Buffer | undefined>,
  { readPage, logger, failure }: JsonStream,
): AsyncGenerator<string | Buffer> {
  const gone = new Error('The session or the access of the reader has ended');
  try {
    yield head.pop()!;
    for (;;) {
      const { done, value: piece } = await readPage(() => turn().then(() => rest.next()));
      if (done) return;
      if (piece === undefined) throw gone;
      if (piece.length > 0) yield piece;
    }
  } catch (error) {
    if (!(error instanceof ClientLeftError))
      logger[error === gone ? 'log' : 'warn']({ ...failure, err: describeError(error) });
    throw error;
  } finally {
    await rest.return?.();
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/**
 * SQLite answers within a turn of the event loop, so without turns many streams would starve other requests. A stream
 * waits for its turn in its slot, or new reads would take the slots and begin further streams.
 */
function turn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

function inner(rows: readonly unknown[]): string {
  return JSON.stringify(rows).slice(1, -1);
}
