import { Injectable, type StreamableFile } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import type { CurrentOrg } from '../http/request-origin.js';
import type { OrgDetailResult, OrgResult } from './orgs.responses.js';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { Env } from '../config/env.js';
import { EventsRepository } from '../events/events.repository.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { MembersRepository } from './state/members.repository.js';
import { OrgsRepository } from './state/orgs.repository.js';
import { WholeLists } from './members/whole-lists.js';
import type { Versioned } from '../requests/entity-tags.js';
import { UsersRepository } from '../users/users.repository.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import { TooManyOrgsError } from './state/orgs.errors.js';

const FIRST_REVISION = 1;

@Injectable()
export class OrgsService {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
    private readonly wholeLists: WholeLists,
    private readonly writes: Writes,
    private readonly env: Env,
  ) {}

  /** @throws TooManyOrgsError, or InvalidTokenError when the user was deleted or disabled after the request began */
  async create(write: Write, name: string): Promise<Versioned<OrgResult>> {
    const { actor } = write;
    const { id: ownerId } = actor;
    const id = newEntityId();
    const { maxOrgsPerUser } = this.env;
    const answer = await this.writes.run(write, ownerId, async (transaction) => {
      const now = Date.now();
      await this.orgs.insert(transaction, { id, name, createdAt: now });
      const owner = { orgId: id, userId: ownerId, role: 'owner', joinedAt: now } as const;
      if (!(await this.members.insert(transaction, owner, maxOrgsPerUser))) {
        const isActive = await this.users.isActive(transaction, ownerId);
        throw isActive ? new TooManyOrgsError(maxOrgsPerUser) : new InvalidTokenError('user_gone');
      }
      const about = { actor, orgId: id, orgRevision: FIRST_REVISION };
      await this.events.record(
        transaction,
        { ...about, type: 'org.created' },
        { ...about, type: 'member.added', userId: ownerId, data: { role: 'owner', via: 'created' } },
      );
      return { org: { id, name } };
    });
    return { answer, revision: FIRST_REVISION };
  }

  getDetail(
    seen: CurrentOrg,
    { id: userId, sessionId }: UserPrincipal,
  ): Promise<Versioned<OrgDetailResult | StreamableFile>> {
    const { id } = seen;
    return this.wholeLists.answer({ orgId: id, userId, sessionId }, seen, ({ name, members }) => ({
      org: { id, name, members },
    }));
  }
}
