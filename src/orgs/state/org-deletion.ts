import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { InvitationsRepository } from './invitations.repository.js';
import { type OrgEvent, revocations } from './org-changes.js';
import { OrgsRepository } from './orgs.repository.js';

@Injectable()
export class OrgDeletion {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly env: Env,
  ) {}

  /** Returns the events to record. A dry run leaves out invitations, which can be many. */
  async delete(tx: Transaction, orgId: string, dryRun = false) {
    const now = Date.now();
    const purgeAt = now + this.env.orgRestoreWindow * 1000;
    await this.orgs.delete(tx, [orgId], now, purgeAt);
    const revoked = dryRun ? [] : await this.invitations.revokeAll(tx, orgId);
    const events: OrgEvent[] = [{ type: 'org.deleted' }, ...revocations(revoked, 'org_deleted')];
    return { purgeAt, events };
  }
}
