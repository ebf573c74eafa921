import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Injectable, Logger, StreamableFile } from '@nestjs/common';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { describeError } from '../logging/describe-error.js';
import { type ListedMember, type MemberCursor, MemberListRepository } from './member-list.repository.js';
import type { MemberPage, Reader } from './member-list.repository.js';
import { NotAMemberError } from './memberships.errors.js';

const PAGE = 1000;

class ReaderGoneError extends Error {
  constructor() {
    super('The session or the membership of the reader has ended');
  }
}

/**
 * JSON documents that hold every member of an organization: an object for an organization of usual size, a stream of
 * pages for a larger one, so that memory does not grow with it. Each page is read for a reader who may still read
 * it; a stream that cannot be completed breaks off, and its connection with it.
 */
@Injectable()
export class WholeLists {
  private readonly logger = new Logger('Members');
  private lastTurn: Promise<void> = Promise.resolve();

  constructor(private readonly members: MemberListRepository) {}

  /**
   * @param wrap puts a list of members into its document; of a stream it is given an empty list
   * @throws NotAMemberError, InvalidTokenError to a reader who may not read it any more
   */
  async answer<T extends object>(
    reader: Reader,
    wrap: (members: ListedMember[]) => T,
  ): Promise<T | StreamableFile> {
    const members = await this.members.findAll(reader.orgId);
    if (members) return wrap(members);
    const first = await this.members.findPageFor(reader, PAGE);
    if (!first) throw await this.refusal(reader);

    const frame = JSON.stringify(wrap([]));
    const middle = frame.lastIndexOf('[]') + 1;
    const chunks = this.stream(reader, first, [frame.slice(0, middle), frame.slice(middle)]);
    // Nothing is read ahead of the client.
    const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 0 });
    return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
  }

  private async refusal({ sessionId }: Reader): Promise<Error> {
    const alive = await this.members.isSessionAlive(sessionId);
    return alive ? new NotAMemberError() : new InvalidTokenError();
  }

  private async *stream(
    reader: Reader,
    first: MemberPage,
    [before, after]: [string, string],
  ): AsyncGenerator<string> {
    let page = first;
    yield before + inner(page.members);
    while (page.next) {
      page = await this.nextPage(reader, page.next);
      if (page.members.length > 0) yield `,${inner(page.members)}`;
    }
    yield after;
  }

  private async nextPage(reader: Reader, after: MemberCursor): Promise<MemberPage> {
    try {
      await this.turn();
      const page = await this.members.findPageFor(reader, PAGE, after);
      if (!page) throw new ReaderGoneError();
      return page;
    } catch (error) {
      const entry = { msg: 'a member list was cut', orgId: reader.orgId, err: describeError(error) };
      if (error instanceof ReaderGoneError) this.logger.log(entry);
      else this.logger.warn(entry);
      throw error;
    }
  }

  /**
   * A turn of the event loop for each page, whichever stream it is of: SQLite answers within the same turn, and
   * many streams would let nobody else's request come to its own.
   */
  private turn(): Promise<void> {
    this.lastTurn = this.lastTurn.then(() => setImmediate());
    return this.lastTurn;
  }
}

function inner(members: ListedMember[]): string {
  return JSON.stringify(members).slice(1, -1);
}
