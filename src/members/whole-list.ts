import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Logger, StreamableFile } from '@nestjs/common';
import { describeError } from '../logging/describe-error.js';
import type { ListedMemberResponse } from './dto/member.responses.js';
import type { MemberListService, MemberPage, Reader } from './member-list.service.js';

const PAGE = 1000;

const logger = new Logger('Members');

class ReaderGoneError extends Error {
  constructor() {
    super('The session or the membership of the reader has ended');
  }
}

/**
 * A JSON document that holds every member of an organization: an object for an organization of usual size,
 * a stream of pages for a larger one, so that memory does not grow with it. Each page is read for a reader who may
 * still read it; a stream that cannot be completed breaks off, and its connection with it.
 *
 * @param wrap puts a list of members into its document; of a stream it is given an empty list
 * @throws NotAMemberError, InvalidTokenError to a reader who may not read it any more
 */
export async function wholeList<T extends object>(
  list: MemberListService,
  reader: Reader,
  wrap: (members: ListedMemberResponse[]) => T,
): Promise<T> {
  const members = await list.findAll(reader.orgId);
  if (members) return wrap(members);
  const first = await list.findPageFor(reader, PAGE);
  if (!first) throw await list.findRefusal(reader);

  const frame = JSON.stringify(wrap([]));
  const middle = frame.lastIndexOf('[]') + 1;
  const chunks = streamMembers(list, reader, first, [frame.slice(0, middle), frame.slice(middle)]);
  // Nothing is read ahead of the client.
  const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 0 });
  // Nest sends it as it is; for the handler it stands for the document.
  return new StreamableFile(stream, { type: 'application/json; charset=utf-8' }) as unknown as T;
}

async function* streamMembers(
  list: MemberListService,
  reader: Reader,
  first: MemberPage,
  [before, after]: [string, string],
): AsyncGenerator<string> {
  let page = first;
  yield before + inner(page.members);
  while (page.next) {
    page = await nextPage(list, reader, page.next);
    if (page.members.length > 0) yield `,${inner(page.members)}`;
  }
  yield after;
}

async function nextPage(
  list: MemberListService,
  reader: Reader,
  after: NonNullable<MemberPage['next']>,
): Promise<MemberPage> {
  try {
    await ownTurn();
    const page = await list.findPageFor(reader, PAGE, after);
    if (!page) throw new ReaderGoneError();
    return page;
  } catch (error) {
    const entry = { msg: 'a member list was cut', orgId: reader.orgId, err: describeError(error) };
    if (error instanceof ReaderGoneError) logger.log(entry);
    else logger.warn(entry);
    throw error;
  }
}

let last: Promise<void> = Promise.resolve();

/**
 * A turn of the event loop for each page, whichever stream it is of: SQLite answers within the same turn, and many
 * streams would let nobody else's request come to its own.
 */
function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}

function inner(members: ListedMemberResponse[]): string {
  return JSON.stringify(members).slice(1, -1);
}
