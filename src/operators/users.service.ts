import { Injectable } from '@nestjs/common';
import type { SignedInOperator } from '../access/principal.js';
import { readable } from '../auth/email-codes/email-code-text.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import { VouchedEmails } from '../accounts/vouched-emails.js';
import { HandedOutResetCodes } from '../accounts/reset-codes.js';
import { SecondFactorRemoval } from '../accounts/second-factor-removal.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import type { ListOwnOrgsQuery } from '../me/me.requests.js';
import {
  cutPage,
  decodeTextCursor,
  encodeCursor,
  encodeTextCursor,
  filteredPage,
  limitOf,
  linkNext,
  type LinkNextPage,
  positionOf,
} from '../http/pages.js';
import { sessionView } from '../me/views.js';
import { OrgsRepository } from '../orgs/state/orgs.repository.js';
import { Memberships } from '../orgs/state/members.memberships.js';
import { requireUnprotected } from '../users/operator-protection.js';
import { UserDeletionService } from '../accounts/user-deletion.js';
import { UserDisablingService } from '../accounts/user-disabling.js';
import { type ListedUser, UserListRepository } from '../users/user-list.repository.js';
import type { OrphanedOrg } from '../users/user-ties.js';
import { type UserProfile, UsersRepository } from '../users/users.repository.js';
import type { ListUsersQuery } from './operators.query.js';
import { asProblems, NoSuchUserError } from './operators.errors.js';
import type {
  AccountListResult,
  AccountOrgsResult,
  AccountSessionsResult,
  ForcibleResult,
  ResetCodeResult,
  ShownAccountResult,
} from './users.responses.js';
import { accountView, timeOrNull, timeText } from './views.js';

/** Calls the services that the commands call. A user for whom there is nothing to change stays as it is. */
@Injectable()
export class OperatorUsersService {
  constructor(
    private readonly users: UsersRepository,
    private readonly lists: UserListRepository,
    private readonly sessions: UserSessionsRepository,
    private readonly memberships: Memberships,
    private readonly orgs: OrgsRepository,
    private readonly disabling: UserDisablingService,
    private readonly deletion: UserDeletionService,
    private readonly revocation: SessionRevocation,
    private readonly emails: VouchedEmails,
    private readonly secondFactors: SecondFactorRemoval,
    private readonly resetCodes: HandedOutResetCodes,
    private readonly codes: EmailCodes,
  ) {}

  async list(query: ListUsersQuery, linkNextPage: LinkNextPage): Promise<AccountListResult> {
    const { search: prefix = '', status, cursor } = query;
    const start = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const isWanted = ({ disabledAt }: ListedUser): boolean =>
      status === undefined || (disabledAt !== null) === (status === 'disabled');
    const { rows, last } = await filteredPage({ limit: limitOf(query), isWanted }, (size, after) => {
      const search = { prefix, after: after?.email ?? start };
      return status === 'disabled'
        ? this.lists.findDisabled(search, size)
        : this.lists.findPage(search, size);
    });
    return { users: rows.map(accountView), ...linkNext(last && encodeTextCursor(last.email), linkNextPage) };
  }

  /** @throws NoSuchUserError */
  async show(userId: string): Promise<ShownAccountResult> {
    const user = await this.find(userId);
    return { user: { ...accountView(user), passwordChangedAt: timeOrNull(user.passwordChangedAt) } };
  }

  /** @throws NoSuchUserError */
  async listSessions(userId: string): Promise<AccountSessionsResult> {
    const { id } = await this.find(userId);
    return { sessions: (await this.sessions.listAlive(id)).map(sessionView) };
  }

  /** @throws NoSuchUserError */
  async listOrgs(
    userId: string,
    query: ListOwnOrgsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<AccountOrgsResult> {
    const { id: ofUser } = await this.find(userId);
    const limit = limitOf(query);
    const rows = await this.memberships.findOrgsEvenDeleted(ofUser, limit + 1, positionOf(query));
    const cursorOf = (org: { id: string; joinedAt: number }): string =>
      encodeCursor({ order: org.joinedAt, id: org.id });
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const orgs = page.map(({ id, name, role, joinedAt, deletedAt }) => ({
      id,
      name,
      role,
      joinedAt: timeText(joinedAt),
      deletedAt: timeOrNull(deletedAt),
    }));
    return { orgs, ...next };
  }

  async disable(userId: string, actor: SignedInOperator, force: boolean): Promise<ForcibleResult> {
    await this.requireChangeable(userId, actor);
    return this.named(force, await asProblems(this.disabling.disable(userId, { actor, force })));
  }

  async enable(userId: string, actor: SignedInOperator): Promise<void> {
    await this.requireChangeable(userId, actor);
    await this.disabling.enable(userId, actor);
  }

  async endSessions(userId: string, actor: SignedInOperator): Promise<void> {
    await this.requireChangeable(userId, actor);
    await this.revocation.revokeAllOf(userId, actor);
  }

  async verifyEmail(userId: string, actor: SignedInOperator): Promise<void> {
    await this.requireChangeable(userId, actor);
    await this.emails.verify(userId, actor);
  }

  async removeSecondFactor(userId: string, actor: SignedInOperator): Promise<void> {
    await this.secondFactors.byOperator(await this.requireChangeable(userId, actor), actor);
  }

  async issueResetCode(userId: string, actor: SignedInOperator): Promise<ResetCodeResult> {
    await this.requireChangeable(userId, actor);
    const issued = await asProblems(this.resetCodes.issue(this.codes, userId, actor));
    return { code: readable(this.codes.textOf(issued)), expiresAt: timeText(issued.expiresAt) };
  }

  async delete(userId: string, actor: SignedInOperator, force: boolean): Promise<ForcibleResult> {
    await this.requireChangeable(userId, actor);
    return this.named(force, await asProblems(this.deletion.delete(userId, { actor, force })));
  }

  /**
   * Refuses before any slow work what the transaction of the change would refuse, too.
   * @throws NoSuchUserError, OperatorProtectedError
   */
  async requireChangeable(userId: string, operator: SignedInOperator): Promise<UserProfile> {
    const user = await this.find(userId);
    requireUnprotected(operator, user.operatorSince);
    return user;
  }

  private async find(id: string): Promise<UserProfile> {
    const user = await this.users.findById(id);
    if (!user) throw new NoSuchUserError();
    return user;
  }

  private async named(force: boolean, orphaned: readonly OrphanedOrg[] = []): Promise<ForcibleResult> {
    return force ? { ok: true, orphanedOrgs: await this.orgs.withNames(orphaned) } : { ok: true };
  }
}
