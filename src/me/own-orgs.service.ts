import { Injectable, Logger, type StreamableFile } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { SessionsRepository } from '../auth/sessions/sessions.repository.js';
import { MAX_SHORT_LIST, OrgsRepository } from '../orgs/state/orgs.repository.js';
import { type UserOrg, Memberships } from '../orgs/state/members.memberships.js';
import {
  cutPage,
  encodeCursor,
  limitOf,
  type LinkNextPage,
  type Position,
  positionOf,
} from '../http/pages.js';
import { type ListPage, streamList } from '../http/list-stream.js';
import type { DeletedOrgsResult, MeResult, OrgOfMe, OwnOrgsResult } from './me.responses.js';
import { AccountView } from './views.js';
import type { Included, ListOwnOrgsQuery } from './me.requests.js';
import { timeText } from '../identifiers/text.js';

export interface OrgListReader extends Pick<UserPrincipal, 'id' | 'sessionId'> {
  withRoles: boolean;
}

/** The organizations in the answer of `GET /api/me`. */
@Injectable()
export class OwnOrgList {
  private readonly logger = new Logger('Me');

  constructor(
    private readonly orgs: OrgsRepository,
    private readonly userOrgs: Memberships,
    private readonly sessions: SessionsRepository,
  ) {}

  /** Nearly every list is short, and the first page is all of it. */
  async begin(reader: OrgListReader): Promise<ListPage<OrgOfMe>> {
    const orgs = reader.withRoles ? undefined : await this.orgs.findShortListOfUser(reader.id);
    return orgs ? { rows: orgs } : this.findPage(reader);
  }

  /** @param document with an empty list */
  stream(reader: OrgListReader, first: ListPage<OrgOfMe>, document: MeResult): StreamableFile {
    return streamList({
      document,
      first,
      readAfter: (after) => this.findPageFor(reader, after),
      logger: this.logger,
      failure: { msg: 'a list of organizations was cut off', userId: reader.id },
    });
  }

  /** Checks the session after it has read the page, so that nothing in the page is newer than the end of the session. */
  private async findPageFor(reader: OrgListReader, after: Position): Promise<ListPage<OrgOfMe> | undefined> {
    const page = await this.findPage(reader, after);
    return (await this.sessions.findPrincipal(reader.sessionId)) ? page : undefined;
  }

  private async findPage({ id, withRoles }: OrgListReader, after?: Position): Promise<ListPage<OrgOfMe>> {
    const found = await this.userOrgs.findOrgs(id, MAX_SHORT_LIST + 1, after);
    const page = found.slice(0, MAX_SHORT_LIST);
    const last = found.length > MAX_SHORT_LIST ? page.at(-1) : undefined;
    return {
      rows: page.map(withRoles ? viewWithRole : viewOf),
      ...(last && { next: { order: last.joinedAt, id: last.id } }),
    };
  }
}

function viewOf({ id, name }: UserOrg): OrgOfMe {
  return { id, name };
}

function viewWithRole({ id, name, role }: UserOrg): OrgOfMe {
  return { id, name, role };
}

@Injectable()
export class MeView {
  constructor(
    private readonly orgs: OwnOrgList,
    private readonly accounts: AccountView,
  ) {}

  /** Streams a long list of organizations, to bound memory and the time of one turn. */
  async of({ id, email, sessionId }: UserPrincipal, included: Included): Promise<MeResult | StreamableFile> {
    const reader = { id, sessionId, withRoles: included.has('roles') };
    const [first, account] = await Promise.all([
      this.orgs.begin(reader),
      included.has('account') ? this.accounts.of(id) : undefined,
    ]);
    const user = { id, email, ...(account && { emailVerified: account.emailVerified }) };
    return first.next ? this.orgs.stream(reader, first, { user, orgs: [] }) : { user, orgs: first.rows };
  }
}

@Injectable()
export class OwnOrgsService {
  constructor(private readonly orgs: Memberships) {}

  async list(userId: string, query: ListOwnOrgsQuery, linkNextPage: LinkNextPage): Promise<OwnOrgsResult> {
    const limit = limitOf(query);
    const rows = await this.orgs.findOrgs(userId, limit + 1, positionOf(query));
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const orgs = page.map(({ id, name, role, joinedAt }) => ({
      id,
      name,
      role,
      joinedAt: timeText(joinedAt),
    }));
    return { orgs, ...next };
  }

  async listDeleted(
    userId: string,
    query: ListOwnOrgsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<DeletedOrgsResult> {
    const limit = limitOf(query);
    const rows = await this.orgs.findDeletedOrgs(userId, Date.now(), limit + 1, positionOf(query));
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const orgs = page.map(({ id, name, deletedAt, purgeAt }) => ({
      id,
      name,
      deletedAt: timeText(deletedAt),
      purgeAt: timeText(purgeAt),
    }));
    return { orgs, ...next };
  }
}

function cursorOf({ joinedAt, id }: { joinedAt: number; id: string }): string {
  return encodeCursor({ order: joinedAt, id });
}
