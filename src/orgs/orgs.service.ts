import { Injectable, type StreamableFile } from '@nestjs/common';
import type { UserActor } from '../access/actor.js';
import type { CurrentOrg } from '../access/current-org.decorator.js';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { Env } from '../config/env.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { MembersRepository } from '../memberships/members.repository.js';
import { OrgsRepository } from '../memberships/orgs.repository.js';
import { WholeLists } from '../memberships/whole-lists.js';
import { UsersRepository } from '../users/users.repository.js';
import type { OrgDetailResult, OrgResponse } from './dto/org.responses.js';
import { TooManyOrgsError } from './orgs.errors.js';

@Injectable()
export class OrgsService {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
    private readonly wholeLists: WholeLists,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** @throws TooManyOrgsError, or InvalidTokenError when the user was deleted after the request began */
  create(actor: UserActor, name: string): Promise<OrgResponse> {
    const { id: ownerId } = actor;
    const id = newEntityId();
    const { maxOrgsPerUser } = this.env;
    return this.transactions.run(async (transaction) => {
      const now = Date.now();
      await this.orgs.insert(transaction, { id, name, createdAt: now });
      const owner = { orgId: id, userId: ownerId, role: 'owner', joinedAt: now } as const;
      if (!(await this.members.insert(transaction, owner, maxOrgsPerUser))) {
        const isThere = await this.users.exists(transaction, ownerId);
        throw isThere ? new TooManyOrgsError(maxOrgsPerUser) : new InvalidTokenError();
      }
      const created = { actor, orgId: id, orgRevision: 1 };
      await this.events.record(
        transaction,
        { ...created, type: 'org.created' },
        { ...created, type: 'member.added', userId: ownerId, data: { role: 'owner', via: 'created' } },
      );
      return { id, name };
    });
  }

  getDetail({ id, name }: CurrentOrg, sessionId: string): Promise<OrgDetailResult | StreamableFile> {
    return this.wholeLists.answer({ orgId: id, sessionId }, (members) => ({ org: { id, name, members } }));
  }

  async listOf(userId: string): Promise<OrgResponse[]> {
    const orgs = await this.orgs.findOfUser(userId);
    return orgs.map(({ id, name }) => ({ id, name }));
  }
}
