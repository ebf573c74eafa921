import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import type { NewEvent } from '../events/event-types.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import type { Departure } from './ownership.repository.js';
import { orgIdsOf } from './owner-rule.js';

/** Deletes organizations that their last member leaves. An owner leaves one only if an operator forces it. */
@Injectable()
export class AbandonedOrgs {
  constructor(
    private readonly orgs: DeletedOrgsRepository,
    private readonly env: Env,
  ) {}

  /** @returns the events, which the caller records with those of the same revisions */
  async delete(
    transaction: Transaction,
    departures: readonly Departure[],
    actor: Actor,
  ): Promise<NewEvent[]> {
    const abandoned = departures.filter(({ hasOtherMember, isDeleted }) => !hasOtherMember && !isDeleted);
    const now = Date.now();
    const purgeAt = now + this.env.orgRestoreWindow * 1000;
    await this.orgs.delete(transaction, orgIdsOf(abandoned), now, purgeAt);
    return abandoned.map(({ orgId, revision: orgRevision, role }) => ({
      type: 'org.deleted',
      actor,
      orgId,
      orgRevision,
      data: role === 'owner' ? { force: true } : {},
    }));
  }
}
