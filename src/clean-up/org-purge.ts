import { Injectable } from '@nestjs/common';
import { ApiKeysRepository } from '../api-keys/api-keys.repository.js';
import { BATCH, type Batch } from '../database/statements.js';
import { type Transaction, Unchanged } from '../database/transactions/transactions.js';
import { InvitationsRepository } from '../orgs/state/invitations.repository.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { type LockedOrg, OrgChanges } from '../orgs/state/org-changes.js';
import { NO_FACTS, OrgsRepository } from '../orgs/state/orgs.repository.js';

/** Deletes rows explicitly, because Galera does not certify cascades. The next batch resumes an interrupted purge. */
@Injectable()
export class OrgPurge {
  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly apiKeys: ApiKeysRepository,
  ) {}

  async purgeBatch(now: number): Promise<Batch> {
    const id = await this.orgs.findDue(now);
    if (id === undefined) return { examined: 0, deleted: 0 };
    const system = { actor: { kind: 'system' } } as const;
    const { answer } = await this.changes.inAnyOrg(system, id, NO_FACTS, async (tx, org) => {
      if (!org || org.purgeAt === null || org.purgeAt > now) return new Unchanged({ deleted: 0 });
      if (org.purgeBeganAt === null) await this.orgs.beginPurge(tx, id, now);
      return { deleted: await this.deleteRows(tx, org) };
    });
    return { examined: BATCH, ...answer };
  }

  private async deleteRows(tx: Transaction, org: LockedOrg): Promise<number> {
    const members = await this.members.deleteOfOrg(tx, org.id, BATCH);
    if (members === BATCH) return members;
    const invitations = await this.invitations.deleteOfOrg(tx, org.id, BATCH);
    if (invitations === BATCH) return members + invitations;
    // At most the 100 that an organization can have.
    const apiKeys = await this.apiKeys.deleteAllOfOrg(tx, org.id);
    await this.orgs.purge(tx, org.id);
    await org.record({ type: 'org.purged' });
    return members + invitations + apiKeys + 1;
  }
}
