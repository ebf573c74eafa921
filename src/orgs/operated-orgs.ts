import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { Unchanged } from '../database/transactions/transactions.js';
import { Problem } from '../problems/problem.js';
import { MembersRepository } from './state/members.repository.js';
import type { Org } from './state/org.entity.js';
import { OrgChanges, type OrgOutcome, requirementEvent } from './state/org-changes.js';
import { OrgDeletion } from './state/org-deletion.js';
import { NO_ENABLED_OWNER } from './state/orgs.errors.js';
import { NO_FACTS, OrgsRepository } from './state/orgs.repository.js';
import { requireRestorable } from './state/policies.js';

type OperatedOrg = OrgOutcome<{ org: Pick<Org, 'id' | 'name'> }>;

/** Changes organizations for operators. The command line loads it without what only requests need. */
@Injectable()
export class OperatedOrgs {
  constructor(
    private readonly changes: OrgChanges,
    private readonly deletion: OrgDeletion,
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
  ) {}

  /** @throws org_not_found */
  delete(orgId: string, actor: Actor): Promise<OrgOutcome<{ purgeAt: number }>> {
    return this.changes.inAnyOrg({ actor }, orgId, NO_FACTS, async (tx, org) => {
      if (!org) throw new Problem('org_not_found');
      if (org.purgeAt !== null) return new Unchanged({ purgeAt: org.purgeAt });
      const { purgeAt, events } = await this.deletion.delete(tx, orgId);
      await org.record(...events);
      return { purgeAt };
    });
  }

  /** @param force allows an organization without an enabled owner @throws org_not_found, last_owner */
  restore(orgId: string, actor: Actor, force: boolean): Promise<OperatedOrg> {
    return this.changes.inAnyOrg({ actor }, orgId, NO_FACTS, async (tx, org) => {
      if (org?.purgeAt === null) return new Unchanged({ org: { id: orgId, name: org.name } });
      requireRestorable(org, Date.now());
      const hasOwner = await this.members.hasEnabledOwner(tx, orgId);
      if (!hasOwner && !force) throw new Problem('last_owner', { detail: NO_ENABLED_OWNER });
      await this.orgs.restore(tx, orgId);
      await org.record({ type: 'org.restored', ...(!hasOwner && { data: { force: true } }) });
      return { org: { id: orgId, name: org.name } };
    });
  }

  /** An organization can suspend all of its owners. @throws org_not_found */
  liftSecondFactor(orgId: string, actor: Actor): Promise<OperatedOrg> {
    return this.changes.inAnyOrg({ actor }, orgId, NO_FACTS, async (tx, org) => {
      if (!org) throw new Problem('org_not_found');
      const lifted = { org: { id: orgId, name: org.name } };
      if (org.secondFactorFrom === null) return new Unchanged(lifted);
      await this.orgs.requireSecondFactor(tx, orgId, null);
      await org.record(requirementEvent(null));
      return lifted;
    });
  }
}
