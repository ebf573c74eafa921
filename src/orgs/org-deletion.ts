import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import { revocations } from './invitations/invitation-events.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import type { OrgEvent } from './org-changes.js';

interface DeletedOrg {
  /** epoch milliseconds until which it can be restored */
  purgeAt: number;
  events: OrgEvent[];
}

/** Hides an organization from every user, for its owners and for operators. */
@Injectable()
export class OrgDeletion {
  constructor(
    private readonly deletedOrgs: DeletedOrgsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly env: Env,
  ) {}

  /** The caller holds the lock, and records the events. @param dryRun leaves its possibly many invitations out */
  async delete(transaction: Transaction, orgId: string, dryRun = false): Promise<DeletedOrg> {
    const now = Date.now();
    const purgeAt = now + this.env.orgRestoreWindow * 1000;
    await this.deletedOrgs.delete(transaction, [orgId], now, purgeAt);
    const revoked = dryRun ? [] : await this.invitations.revokeAll(transaction, orgId);
    return { purgeAt, events: [{ type: 'org.deleted' }, ...revocations(revoked, 'org_deleted')] };
  }
}
