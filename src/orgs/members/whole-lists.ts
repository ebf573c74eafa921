import { Injectable, Logger, type StreamableFile } from '@nestjs/common';
import { InvalidTokenError } from '../../auth/tokens/tokens.errors.js';
import { type ListPage, streamList } from '../../http/list-stream.js';
import type { Versioned } from '../../requests/entity-tags.js';
import {
  type ListedMember,
  type MemberList,
  MemberLists,
  type MemberPage,
  type Reader,
} from '../state/members.lists.js';
import { NotAMemberError, OrgNotFoundError } from '../state/orgs.errors.js';

const PAGE = 1000;

/** Streams large lists to bound memory; each page checks the access again. */
@Injectable()
export class WholeLists {
  private readonly logger = new Logger('Members');

  constructor(private readonly members: MemberLists) {}

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
    const answer = streamList({
      document: wrap({ ...seen, members: [] }),
      first: pageOf(first),
      readAfter: async (after) => {
        const page = await this.members.findPageFor(reader, PAGE, after);
        return page && pageOf(page);
      },
      logger: this.logger,
      failure: { msg: 'a member list was cut off', orgId: reader.orgId },
    });
    return { answer, revision: seen.revision };
  }

  /** @throws if the access of the reader has ended; call it after reading, so that nothing read is newer than that */
  async requireReader(reader: Reader): Promise<void> {
    if (!(await this.members.isReader(reader))) throw await this.refusalOf(reader);
  }

  /** The error that answers a reader whose access has ended. */
  async refusalOf({ orgId, sessionId }: Reader): Promise<Error> {
    if (!(await this.members.isSessionAlive(sessionId))) return new InvalidTokenError('session_ended');
    return (await this.members.isOrgThere(orgId)) ? new NotAMemberError() : new OrgNotFoundError();
  }
}

function pageOf({ members, ...rest }: MemberPage): ListPage<ListedMember> {
  return { rows: members, ...rest };
}
