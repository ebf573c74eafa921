import { Injectable, Logger, type StreamableFile } from '@nestjs/common';
import type { Role, UserPrincipal } from '../../access/principal.js';
import { boundToken } from '../../access/route-access.js';
import { InvalidTokenError } from '../../auth/tokens/access-token.js';
import type { Included } from '../../http/included.js';
import { streamList } from '../../http/list-stream.js';
import type { ReadPage } from '../../http/read-gate.js';
import {
  cutPage,
  decodeTextCursor,
  encodeCursor,
  encodeTextCursor,
  limitOf,
  type NextCursor,
  positionOf,
} from '../../http/pages.js';
import type { CurrentOrg } from '../../http/request-origin.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import type { Versioned } from '../../requests/entity-tags.js';
import {
  maxAtOnce,
  type ListedMember,
  type MemberList,
  MemberListsRepository,
  type MemberSearch,
  type ListReader,
} from '../state/members.lists.js';
import { requiredByOrg } from '../state/orgs.errors.js';
import { requireRole } from '../state/policies.js';
import type { ListMembersQuery } from './members.requests.js';
import type { MemberDetailResponse, MembersResponse } from './members.responses.js';
import { timeText } from '../../identifiers/text.js';
import { Problem } from '../../problems/problem.js';

type Caller = Pick<UserPrincipal, 'id' | 'sessionId' | 'audience' | 'hasSecondFactor'>;

@Injectable()
export class MembersReader {
  private readonly logger = new Logger('Members');

  constructor(private readonly members: MemberListsRepository) {}

  async list(
    org: CurrentOrg,
    caller: Caller,
    query: ListMembersQuery,
    included: Included,
    readPage: ReadPage,
  ): Promise<MembersResponse | StreamableFile> {
    const { search, role, secondFactor } = query;
    if (secondFactor !== undefined && caller.audience !== null) throw boundToken();
    if ((search ?? role ?? secondFactor) !== undefined) {
      const withProfile = included.has('profile');
      const found = await this.search(org.id, query, { withProfile });
      await this.requireReader(org.id, caller, secondFactor === undefined ? 'member' : 'admin');
      return found;
    }
    if (query.limit === undefined) {
      const onlyMembers = ({ members }: MemberList): MembersResponse => ({ members });
      const { answer } = await this.listAll(org, caller, included, readPage, onlyMembers);
      return answer;
    }
    const reader = readerOf(org.id, caller, included);
    const page = await this.members.findPageFor(reader, limitOf(query), positionOf(query));
    if (!page) throw await this.refusalOf(reader);
    const { rows, next } = page;
    return { members: rows, ...(next && { nextCursor: encodeCursor(next) }) };
  }

  async search(
    orgId: string,
    query: ListMembersQuery,
    more: Pick<MemberSearch, 'withProfile' | 'withStatus'>,
  ): Promise<{ members: ListedMember[] } & NextCursor> {
    const { search: prefix = '', role, cursor, secondFactor } = query;
    const lacksFactor = secondFactor === 'missing';
    const after = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const limit = limitOf(query);
    const rows = await this.members.search({ orgId, prefix, role, after, lacksFactor, ...more }, limit + 1);
    const { page, next } = cutPage(rows, limit, ({ email }) => encodeTextCursor(email));
    return { members: page, ...next };
  }

  async getOne(
    orgId: string,
    idOrMe: string,
    caller: Caller,
    included: Included,
  ): Promise<MemberDetailResponse> {
    const userId = idOrMe === 'me' ? caller.id : idOrMe;
    const reader = readerOf(orgId, caller, included);
    const member = isEntityId(userId) ? await this.members.findOne(reader, userId) : undefined;
    await this.requireReader(orgId, caller);
    if (!member) throw new Problem('member_not_found');
    return { member: { ...member, joinedAt: timeText(member.joinedAt) } };
  }

  /** Streams large lists; each page checks the access again. @param wrap gets an empty list for a stream */
  async listAll<T extends object>(
    seen: CurrentOrg,
    caller: Caller,
    included: Included,
    readPage: ReadPage,
    wrap: (list: MemberList) => T,
  ): Promise<Versioned<T | StreamableFile>> {
    const reader = readerOf(seen.id, caller, included);
    // The revision does not count changes of profiles.
    const tagOf = (revision: number) => (reader.withProfile ? undefined : revision);
    const found = await this.members.findAll(reader);
    if (found.kind === 'whole') return { answer: wrap(found), revision: tagOf(found.revision) };
    const size = maxAtOnce(reader);
    const first = found.kind === 'long' ? await this.members.findPageFor(reader, size) : undefined;
    if (!first) throw await this.refusalOf(reader);
    const answer = streamList({
      document: wrap({ ...seen, members: [] }),
      first,
      readPage,
      readAfter: (after) => this.members.findPageFor(reader, size, after),
      logger: this.logger,
      failure: { msg: 'a member list was cut off', orgId: seen.id },
    });
    return { answer, revision: tagOf(seen.revision) };
  }

  /** Throws if the caller's access has ended. Call it after the read, so that no row is newer than that check. */
  async requireReader(orgId: string, caller: Caller, minRole: Role = 'member'): Promise<void> {
    const reader = readerOf(orgId, caller);
    const found = await this.members.findReader(reader);
    if (found?.isSuspended !== 0) throw await this.refusalOf(reader);
    requireRole(found.role, minRole);
  }

  private async refusalOf(reader: ListReader): Promise<Error> {
    const { orgId, sessionId } = reader;
    if (!(await this.members.isSessionAlive(sessionId))) return new InvalidTokenError('session_ended');
    if (await this.members.findReader(reader)) return requiredByOrg();
    return new Problem((await this.members.isOrgThere(orgId)) ? 'not_a_member' : 'org_not_found');
  }
}

function readerOf(
  orgId: string,
  { id: userId, sessionId, hasSecondFactor }: Caller,
  included?: Included,
): ListReader {
  return { orgId, userId, sessionId, hasSecondFactor, withProfile: included?.has('profile') ?? false };
}
