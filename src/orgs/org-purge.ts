import { Injectable } from '@nestjs/common';
import { BATCH, type Batch } from '../database/statements.js';
import { type Transaction, unchanged } from '../database/transactions/transactions.js';
import { Problem } from '../problems/problem.js';
import { InvitationsRepository } from './state/invitations.repository.js';
import { MembersRepository } from './state/members.repository.js';
import { type LockedOrg, OrgChanges } from './state/org-changes.js';
import { OrgsRepository } from './state/orgs.repository.js';

/**
 * Purges in short transactions, explicitly, because Galera does not certify cascades. An interrupted purge is found
 * again.
 */
@Injectable()
export class OrgPurge {
  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
  ) {}

  async purgeBatch(now: number): Promise<Batch> {
    const id = await this.orgs.findDue(now);
    if (id === undefined) return { examined: 0, deleted: 0 };
    const work = async (tx: Transaction, org: LockedOrg) => {
      if (org.purgeAt === null || org.purgeAt > now) return unchanged({ deleted: 0 });
      if (org.purgeBeganAt === null) await this.orgs.beginPurge(tx, id, now);
      return { deleted: await this.deleteRows(tx, org) };
    };
    try {
      const { answer } = await this.changes.inOrg({ actor: { kind: 'system' } }, id, work, {
        evenDeleted: true,
      });
      return { examined: BATCH, ...answer };
    } catch (error) {
      if (error instanceof Problem && error.code === 'org_not_found') return { examined: BATCH, deleted: 0 };
      throw error;
    }
  }

  private async deleteRows(tx: Transaction, org: LockedOrg): Promise<number> {
    const members = await this.members.deleteOfOrg(tx, org.id, BATCH);
    if (members === BATCH) return members;
    const invitations = await this.invitations.deleteOfOrg(tx, org.id, BATCH);
    if (invitations === BATCH) return members + invitations;
    await this.orgs.purge(tx, org.id);
    await org.record({ type: 'org.purged' });
    return members + invitations + 1;
  }
}
