import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import type { Versioned } from '../requests/entity-tags.js';
import type { Write } from '../requests/write.js';
import type { OrgDeletionResult, OrgResponse, OrgResult } from './orgs.responses.js';
import { NoEnabledOwnerError, OrgNotFoundError } from './state/orgs.errors.js';
import { MembersRepository } from './state/members.repository.js';
import { requireAdmin, requireOwner } from './state/member-policy.js';
import { OrgChanges, unchanged } from './state/org-changes.js';
import { requireRestorable } from './state/org-policy.js';
import { OrgsRepository } from './state/orgs.repository.js';

/** Renames, deletes and restores organizations, for their members and for operators. */
@Injectable()
export class OrgLifeService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
  ) {}

  rename(write: Write, orgId: string, name: string): Promise<Versioned<OrgResult>> {
    return this.changes.inOrg(write, orgId, async (tx, org) => {
      requireAdmin(await this.members.findRole(tx, orgId, write.actor.id));
      const answer = { org: { id: orgId, name } };
      if (name === org.name) return unchanged(answer);

      await this.orgs.rename(tx, orgId, name);
      await org.record({ type: 'org.renamed' });
      return answer;
    });
  }

  delete(write: Write, orgId: string): Promise<Versioned<OrgDeletionResult>> {
    return this.changes.inOrg(write, orgId, async (tx, org) => {
      requireOwner(await this.members.findRole(tx, orgId, write.actor.id));
      const { purgeAt, events } = await this.changes.delete(tx, org, write.dryRun);
      await org.record(...events);
      return deletionResult(purgeAt);
    });
  }

  /** A deleted organization stays as it is. */
  async deleteAsOperator(orgId: string, actor: Actor): Promise<OrgDeletionResult> {
    const { answer } = await this.changes.inOrg(
      { actor },
      orgId,
      async (tx, org) => {
        if (org.purgeAt !== null) return unchanged(deletionResult(org.purgeAt));
        const { purgeAt, events } = await this.changes.delete(tx, org);
        await org.record(...events);
        return deletionResult(purgeAt);
      },
      { evenDeleted: true },
    );
    return answer;
  }

  /** @throws OrgNotFoundError for all users but an owner, and when it is not deleted or its time is over */
  async restore(write: Write, orgId: string): Promise<Versioned<OrgResult>> {
    const { id: ownerId } = write.actor;
    // No guard keeps other users from locking the organization, so this does.
    if (!(await this.members.isEnabledOwner(orgId, ownerId))) throw new OrgNotFoundError();
    return this.changes.inOrg(
      write,
      orgId,
      async (tx, org) => {
        if (!(await this.members.isEnabledOwner(orgId, ownerId, tx))) throw new OrgNotFoundError();
        requireRestorable(org, Date.now());
        await this.orgs.restore(tx, orgId);
        await org.record({ type: 'org.restored' });
        return { org: { id: orgId, name: org.name } };
      },
      { evenDeleted: true },
    );
  }

  /**
   * An organization that is not deleted stays as it is.
   * @param force allows it to have no enabled owner
   * @throws OrgNotFoundError when its time is over, NoEnabledOwnerError
   */
  async restoreAsOperator(
    orgId: string,
    { actor, force }: { actor: Actor; force: boolean },
  ): Promise<OrgResponse> {
    const { answer } = await this.changes.inOrg<OrgResponse>(
      { actor },
      orgId,
      async (tx, org) => {
        const { id, name } = org;
        if (org.purgeAt === null) return unchanged({ id, name });
        requireRestorable(org, Date.now());
        const hasOwner = await this.members.hasEnabledOwner(tx, orgId);
        if (!hasOwner && !force) throw new NoEnabledOwnerError();
        await this.orgs.restore(tx, orgId);
        await org.record({ type: 'org.restored', ...(!hasOwner && { data: { force: true } }) });
        return { id, name };
      },
      { evenDeleted: true },
    );
    return answer;
  }
}

function deletionResult(purgeAt: number): OrgDeletionResult {
  return { ok: true, purgeAt: new Date(purgeAt).toISOString() };
}
