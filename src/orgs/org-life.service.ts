import { Injectable } from '@nestjs/common';
import type { Versioned } from '../requests/entity-tags.js';
import type { Write } from '../requests/write.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import type { OrgDeletionResult, OrgResult } from './orgs.responses.js';
import { MembersRepository } from './members/members.repository.js';
import { requireAdmin, requireOwner } from './members/member-policy.js';
import { OrgChanges } from './org-changes.js';
import { OrgDeletion } from './org-deletion.js';
import { requireRestorable } from './org-policy.js';
import { OrgsRepository } from './orgs.repository.js';

@Injectable()
export class OrgLifeService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
    private readonly deletedOrgs: DeletedOrgsRepository,
    private readonly members: MembersRepository,
    private readonly deletion: OrgDeletion,
  ) {}

  rename(write: Write, orgId: string, name: string): Promise<Versioned<OrgResult>> {
    return this.changes.run(
      write,
      {
        orgId,
        lookup: this.members.membership,
        key: { orgId, userId: write.actor.id },
        decide: ({ role }) => requireAdmin(role),
      },
      async ({ transaction, facts, record }) => {
        if (name !== facts.orgName) {
          await this.orgs.rename(transaction, orgId, name);
          await record({ type: 'org.renamed' });
        }
        return { org: { id: orgId, name } };
      },
    );
  }

  delete(write: Write, orgId: string): Promise<Versioned<OrgDeletionResult>> {
    return this.changes.run(
      write,
      {
        orgId,
        lookup: this.members.membership,
        key: { orgId, userId: write.actor.id },
        decide: ({ role }) => requireOwner(role),
      },
      async ({ transaction, record }) => {
        const { purgeAt, events } = await this.deletion.delete(transaction, orgId, write.dryRun);
        await record(...events);
        return { ok: true, purgeAt: new Date(purgeAt).toISOString() };
      },
    );
  }

  /** @throws OrgNotFoundError for every user but an owner, and when it is not deleted or its time is over */
  restore(write: Write, orgId: string): Promise<Versioned<OrgResult>> {
    return this.changes.run(
      write,
      {
        orgId,
        lookup: this.deletedOrgs.deleted,
        key: { orgId, ownerId: write.actor.id },
        decide: (facts) => requireRestorable(facts, Date.now()),
      },
      async ({ transaction, facts, record }) => {
        await this.deletedOrgs.restore(transaction, orgId);
        await record({ type: 'org.restored' });
        return { org: { id: orgId, name: facts.name } };
      },
    );
  }
}
