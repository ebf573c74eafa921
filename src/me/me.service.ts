import { Injectable, Logger, type StreamableFile } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { boundToken } from '../access/route-access.js';
import { IdentitiesRepository } from '../auth/providers/identities.repository.js';
import { SessionsRepository } from '../auth/sessions/sessions.repository.js';
import { InvalidTokenError } from '../auth/tokens/access-token.js';
import { type ListPage, streamJson, streamList } from '../http/list-stream.js';
import type { ReadPage } from '../http/read-gate.js';
import { cutPage, encodeCursor, limitOf, type Position, positionOf } from '../http/pages.js';
import { timeOrNull, timeText } from '../identifiers/text.js';
import {
  MembershipsRepository,
  type OrgsReader,
  seesAll,
  type UserOrg,
} from '../orgs/state/members.memberships.js';
import { MAX_SHORT_LIST, OrgsRepository } from '../orgs/state/orgs.repository.js';
import { profileOf } from '../users/profile.js';
import { NO_PASSWORD_HASH } from '../users/user.entity.js';
import type { UserView } from '../users/user-view.js';
import { UsersRepository } from '../users/users.repository.js';
import type { ListOwnOrgsQuery } from './me.requests.js';
import type { Included } from '../http/included.js';
import type {
  AccountResponse,
  DeletedOrgsResponse,
  CurrentUserResponse,
  LoginsDto,
  OrgMembershipsResponse,
} from './me.responses.js';
import type { OrgMembership } from '../orgs/state/orgs.responses.js';
import { documentText, inPieces, UserExport } from '../accounts/user-export.js';

@Injectable()
export class MeService {
  private readonly logger = new Logger('Me');
  private readonly exportLogger = new Logger('Export');

  constructor(
    private readonly users: UsersRepository,
    private readonly orgs: OrgsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly sessions: SessionsRepository,
    private readonly exports: UserExport,
    private readonly identities: IdentitiesRepository,
  ) {}

  /** Streams a long list, to bound memory and the time of one turn of the event loop. @throws insufficient_scope */
  async get(
    caller: UserPrincipal,
    included: Included,
    readPage: ReadPage,
  ): Promise<CurrentUserResponse | StreamableFile> {
    const { id, email, sessionId, audience } = caller;
    const [withAccount, withProfile] = [included.has('account'), included.has('profile')];
    if (withProfile && audience !== null) throw boundToken();
    const [first, stored] = await Promise.all([
      this.findFirstOrgs(caller, included),
      withAccount || withProfile ? this.find(id) : undefined,
    ]);
    const user = {
      id,
      email,
      ...(stored && withAccount && { emailVerified: stored.emailVerifiedAt !== null }),
      ...(stored && withProfile && { profile: profileOf(stored) }),
    };
    if (!first.next) return { user, orgs: first.rows };
    return streamList({
      document: { user, orgs: [] },
      first,
      readPage,
      readAfter: async (after) => {
        const page = await this.findOrgs(caller, included, after);
        // Checked after the read, so that the page has nothing newer than the end of the session.
        return (await this.sessions.findPrincipal(sessionId)) ? page : undefined;
      },
      logger: this.logger,
      failure: { msg: 'a list of organizations was cut off', userId: id },
    });
  }

  async getAccount(userId: string, included: Included): Promise<AccountResponse> {
    const { id, email, emailVerifiedAt, createdAt, passwordChangedAt } = await this.find(userId);
    const logins = included.has('logins') ? await this.findLogins(userId) : undefined;
    return {
      user: { id, email },
      emailVerified: emailVerifiedAt !== null,
      createdAt: timeText(createdAt),
      passwordChangedAt: timeOrNull(passwordChangedAt),
      ...(logins && { logins }),
    };
  }

  private async findLogins(userId: string): Promise<LoginsDto> {
    const credentials = await this.users.findCredentialsById(userId);
    const providers = await this.identities.listOfUser(userId);
    return {
      password: credentials?.passwordHash !== NO_PASSWORD_HASH,
      providers: providers.map(({ name, title, createdAt }) => {
        return { name, title, linkedAt: timeText(createdAt) };
      }),
    };
  }

  async listOrgs(
    caller: OrgsReader,
    query: ListOwnOrgsQuery,
    included: Included,
  ): Promise<OrgMembershipsResponse> {
    const limit = limitOf(query);
    const rows = await this.memberships.findOrgs(caller, limit + 1, positionOf(query));
    const { page, next } = cutPage(rows, limit, cursorOf);
    const orgs = page.map((org) => {
      const { role, joinedAt } = org;
      return Object.assign(membershipOf(org, caller, included), { role, joinedAt: timeText(joinedAt) });
    });
    return { orgs, ...next };
  }

  async listDeletedOrgs(userId: string, query: ListOwnOrgsQuery): Promise<DeletedOrgsResponse> {
    const limit = limitOf(query);
    const rows = await this.memberships.findDeletedOrgs(userId, limit + 1, positionOf(query));
    const { page, next } = cutPage(rows, limit, cursorOf);
    const orgs = page.map(({ id, name, deletedAt, purgeAt }) => ({
      id,
      name,
      deletedAt: timeText(deletedAt),
      purgeAt: timeText(purgeAt),
    }));
    return { orgs, ...next };
  }

  /** Reads the first piece before the response begins, so that a failure has a status. */
  async export({ id, sessionId }: UserPrincipal, readPage: ReadPage): Promise<StreamableFile> {
    const pieces = inPieces(documentText(this.exports.documentOf(await this.find(id)), ''));
    const first = await pieces.next();
    return streamJson(first.value as string, this.livePieces(sessionId, pieces), {
      readPage,
      logger: this.exportLogger,
      failure: { msg: 'an export was cut off', userId: id },
    });
  }

  private async *livePieces(
    sessionId: string,
    rest: AsyncIterable<string>,
  ): AsyncGenerator<string | undefined> {
    for await (const piece of rest) yield (await this.sessions.findPrincipal(sessionId)) ? piece : undefined;
  }

  private async find(id: string): Promise<UserView> {
    const user = await this.users.findById(id);
    if (!user) throw new InvalidTokenError('user_gone');
    return user;
  }

  private async findFirstOrgs(caller: OrgsReader, included: Included): Promise<ListPage<OrgMembership>> {
    const isPlain = !included.has('roles') && !included.has('requirements') && seesAll(caller);
    const orgs = isPlain ? await this.orgs.findShortListOfUser(caller.id) : undefined;
    return orgs ? { rows: orgs } : this.findOrgs(caller, included);
  }

  private async findOrgs(
    caller: OrgsReader,
    included: Included,
    after?: Position,
  ): Promise<ListPage<OrgMembership>> {
    const found = await this.memberships.findOrgs(caller, MAX_SHORT_LIST + 1, after);
    const page = found.slice(0, MAX_SHORT_LIST);
    const last = found.length > MAX_SHORT_LIST ? page.at(-1) : undefined;
    return {
      rows: page.map((org) => membershipOf(org, caller, included)),
      ...(last && { next: { order: last.joinedAt, id: last.id } }),
    };
  }
}

function membershipOf(
  { id, name, role, isFactorRequired, secondFactorFrom }: UserOrg,
  { hasSecondFactor }: OrgsReader,
  included: Included,
): OrgMembership {
  return {
    id,
    name,
    ...(included.has('roles') && { role }),
    ...(included.has('requirements') && {
      suspended: isFactorRequired === 1 && !hasSecondFactor,
      secondFactorRequiredFrom: timeOrNull(secondFactorFrom),
    }),
  };
}

function cursorOf({ joinedAt, id }: { joinedAt: number; id: string }): string {
  return encodeCursor({ order: joinedAt, id });
}
