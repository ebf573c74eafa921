import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Injectable, Logger, StreamableFile } from '@nestjs/common';
import { InvalidTokenError } from '../../auth/tokens/tokens.errors.js';
import { describeError } from '../../telemetry/logging/describe-error.js';
import type { Versioned } from '../../requests/entity-tag.decorator.js';
import type { Position } from '../../pagination/cursor.js';
import { type ListedMember, type MemberList, MemberListRepository } from './member-list.repository.js';
import type { MemberPage, Reader } from './member-list.repository.js';
import { NotAMemberError, OrgNotFoundError } from './members.errors.js';

const PAGE = 1000;

class ReaderGoneError extends Error {
  constructor() {
    super('The session or the membership of the reader has ended, or the organization was deleted');
  }
}

/** Streams large lists to bound memory; each page checks the access again. A stream that fails closes its connection. */
@Injectable()
export class WholeLists {
  private readonly logger = new Logger('Members');
  private lastTurn: Promise<void> = Promise.resolve();

  constructor(private readonly members: MemberListRepository) {}

  /**
   * @param seen the organization as the role check before read it, which a stream tells of
   * @param wrap makes the document; for a stream it gets an empty list
   */
  async answer<T extends object>(
    reader: Reader,
    seen: Pick<MemberList, 'name' | 'revision'>,
    wrap: (list: MemberList) => T,
  ): Promise<Versioned<T | StreamableFile>> {
    const found = await this.members.findAll(reader);
    if (found.kind === 'whole') return { answer: wrap(found), revision: found.revision };
    const first = found.kind === 'long' ? await this.members.findPageFor(reader, PAGE) : undefined;
    if (!first) throw await this.refusalOf(reader);
    const answer = this.streamOf(reader, first, JSON.stringify(wrap({ ...seen, members: [] })));
    return { answer, revision: seen.revision };
  }

  /** @throws if the access of the reader has ended; call it after reading, so that nothing read is newer than that */
  async requireReader(reader: Reader): Promise<void> {
    if (!(await this.members.isReader(reader))) throw await this.refusalOf(reader);
  }

  private streamOf(reader: Reader, first: MemberPage, frame: string): StreamableFile {
    const middle = frame.lastIndexOf('[]') + 1;
    const chunks = this.stream(reader, first, [frame.slice(0, middle), frame.slice(middle)]);
    // Read only as fast as the client does.
    const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 0 });
    return new StreamableFile(stream, { type: 'application/json; charset=utf-8' });
  }

  /** The error that answers a reader whose access has ended. */
  async refusalOf({ orgId, sessionId }: Reader): Promise<Error> {
    if (!(await this.members.isSessionAlive(sessionId))) return new InvalidTokenError('session_ended');
    return (await this.members.isOrgThere(orgId)) ? new NotAMemberError() : new OrgNotFoundError();
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

  private async nextPage(reader: Reader, after: Position): Promise<MemberPage> {
    try {
      await this.turn();
      const page = await this.members.findPageFor(reader, PAGE, after);
      if (!page) throw new ReaderGoneError();
      return page;
    } catch (error) {
      const entry = { msg: 'a member list was cut off', orgId: reader.orgId, err: describeError(error) };
      if (error instanceof ReaderGoneError) this.logger.log(entry);
      else this.logger.warn(entry);
      throw error;
    }
  }

  // Pages of all streams take a turn of the event loop each: SQLite answers within a turn, and many streams
  // would starve other requests.
  private turn(): Promise<void> {
    this.lastTurn = this.lastTurn.then(() => setImmediate());
    return this.lastTurn;
  }
}

function inner(members: ListedMember[]): string {
  return JSON.stringify(members).slice(1, -1);
}
