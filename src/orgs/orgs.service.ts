import { Injectable, type StreamableFile } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import type { Included } from '../http/included.js';
import type { ReadPage } from '../http/read-gate.js';
import type { CurrentOrg } from '../http/request-origin.js';
import type {
  OrgChangeResponse,
  OrgDeletionResponse,
  OrgDetailResponse,
  OrgResponse,
} from './orgs.responses.js';
import { InvalidTokenError } from '../auth/tokens/access-token.js';
import { Env } from '../config/env.js';
import { EventsRepository } from '../events/events.repository.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { Problem } from '../problems/problem.js';
import { ACTOR, MembersRepository } from './state/members.repository.js';
import { OrgsRepository } from './state/orgs.repository.js';
import type { UpdateOrgRequest } from './orgs.requests.js';
import { MembersReader } from './members/members-reader.js';
import type { Versioned } from '../requests/entity-tags.js';
import { UsersRepository } from '../users/users.repository.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import { secondFactorNotEnabled, TooManyOrgsError } from './state/orgs.errors.js';
import { requireOrgChange, requireRestorable, requireRole } from './state/policies.js';
import { OrgChanges, type OrgEvent, requirementEvent } from './state/org-changes.js';
import { OrgDeletion } from './state/org-deletion.js';
import { Unchanged } from '../database/transactions/transactions.js';
import { timeOrNull, timeText } from '../identifiers/text.js';

const FIRST_REVISION = 1;

@Injectable()
export class OrgsService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly deletion: OrgDeletion,
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
    private readonly lists: MembersReader,
    private readonly writes: Writes,
    private readonly env: Env,
  ) {}

  /** @throws TooManyOrgsError, or InvalidTokenError if the user was deleted or disabled meanwhile */
  async create(write: Write, name: string): Promise<Versioned<OrgResponse>> {
    const { actor } = write;
    const { maxOrgsPerUser } = this.env;
    const [id, ownerId] = [newEntityId(), actor.id];
    const answer = await this.writes.run(write, ownerId, async (tx) => {
      const now = Date.now();
      await this.orgs.insert(tx, { id, name, createdAt: now });
      const owner = { orgId: id, userId: ownerId, role: 'owner', joinedAt: now } as const;
      if (!(await this.members.insert(tx, owner, maxOrgsPerUser))) {
        const isActive = await this.users.isActive(tx, ownerId);
        throw isActive ? new TooManyOrgsError(maxOrgsPerUser) : new InvalidTokenError('user_gone');
      }
      const about = { actor, orgId: id, orgRevision: FIRST_REVISION };
      await this.events.record(
        tx,
        { ...about, type: 'org.created' },
        { ...about, type: 'member.added', userId: ownerId, data: { role: 'owner', via: 'created' } },
      );
      return { org: { id, name } };
    });
    return { answer, revision: FIRST_REVISION };
  }

  getDetail(
    seen: CurrentOrg,
    caller: UserPrincipal,
    included: Included,
    readPage: ReadPage,
  ): Promise<Versioned<OrgDetailResponse | StreamableFile>> {
    const { id } = seen;
    const withRequirements = included.has('requirements');
    return this.lists.listAll(seen, caller, included, readPage, ({ name, members, secondFactorFrom }) => {
      const required = withRequirements && { secondFactorRequiredFrom: timeOrNull(secondFactorFrom) };
      return { org: { id, name, ...required, members } };
    });
  }

  change(write: Write, orgId: string, wanted: UpdateOrgRequest): Promise<Versioned<OrgChangeResponse>> {
    return this.changes.inOrg(write, orgId, ACTOR, async (tx, org, { actorRole }) => {
      const { name = org.name, secondFactorRequiredFrom: from } = wanted;
      const isRequirement = from !== undefined;
      requireOrgChange(actorRole, isRequirement, write.actor);
      if (isRequirement && from !== null && org.lacksActorFactor) throw secondFactorNotEnabled();

      const events: OrgEvent[] = [];
      if (name !== org.name) {
        await this.orgs.rename(tx, orgId, name);
        events.push({ type: 'org.renamed' });
      }
      if (isRequirement && from !== org.secondFactorFrom) {
        await this.orgs.requireSecondFactor(tx, orgId, from);
        events.push(requirementEvent(from));
      }
      const requirement = isRequirement ? { secondFactorRequiredFrom: timeOrNull(from) } : {};
      const answer = {
        org: { id: orgId, name, ...requirement },
        ...(isRequirement && { affected: await this.members.countWithoutFactor(tx, orgId) }),
      };
      if (events.length === 0) return new Unchanged(answer);
      await org.record(...events);
      return answer;
    });
  }

  delete(write: Write, orgId: string): Promise<Versioned<OrgDeletionResponse>> {
    return this.changes.inOrg(write, orgId, ACTOR, async (tx, org, { actorRole }) => {
      requireRole(actorRole, 'owner');
      const { purgeAt, events } = await this.deletion.delete(tx, orgId, write.dryRun);
      await org.record(...events);
      return deletionResult(purgeAt);
    });
  }

  /** @throws org_not_found unless the user is an owner and the organization can be restored */
  async restore(write: Write, orgId: string): Promise<Versioned<OrgResponse>> {
    // No guard stops other users, who must not lock the organization.
    if (!(await this.members.isEnabledOwner(orgId, write.actor.id))) throw new Problem('org_not_found');
    return this.changes.inAnyOrg(write, orgId, ACTOR, async (tx, org, facts) => {
      if (facts?.actorRole !== 'owner' || facts.actorDisabledAt !== null) throw new Problem('org_not_found');
      requireRestorable(org, Date.now());
      await this.orgs.restore(tx, orgId);
      await org.record({ type: 'org.restored' });
      return { org: { id: orgId, name: org.name } };
    });
  }
}

function deletionResult(purgeAt: number): OrgDeletionResponse {
  return { ok: true, purgeAt: timeText(purgeAt) };
}
