import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import { EventsRepository } from '../record/events.repository.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import { revocations } from './invitations/invitation-events.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { requireAdmin, requireOwner } from './members/membership-policy.js';
import { OrgNotFoundError } from './members/memberships.errors.js';
import { OrgFactsRepository } from './org-facts.repository.js';
import { OrgWrites } from './org-writes.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import type { OrgDeletionResult, OrgResult } from './dto/org.responses.js';

/** Every change checks the actor's role again under the lock. */
@Injectable()
export class OrgLifeService {
  constructor(
    private readonly facts: OrgFactsRepository,
    private readonly deleted: DeletedOrgsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly events: EventsRepository,
    private readonly orgWrites: OrgWrites,
    private readonly writes: Writes,
    private readonly env: Env,
  ) {}

  rename(orgId: string, write: Write, name: string): Promise<OrgResult> {
    const { actor } = write;
    return this.orgWrites.run(write, orgId, {
      read: (transaction) => this.facts.findIn(transaction, orgId, actor.id),
      work: async (transaction, { revision: orgRevision, actorRole, name: before }) => {
        requireAdmin(actorRole);
        if (name !== before) {
          await this.facts.rename(transaction, orgId, name);
          await this.events.record(transaction, { type: 'org.renamed', actor, orgId, orgRevision });
        }
        return { org: { id: orgId, name } };
      },
    });
  }

  delete(orgId: string, write: Write): Promise<OrgDeletionResult> {
    const { actor } = write;
    return this.orgWrites.run(write, orgId, {
      read: (transaction) => this.facts.findIn(transaction, orgId, actor.id),
      work: async (transaction, { actorRole }) => {
        requireOwner(actorRole);
        const now = Date.now();
        const purgeAt = now + this.env.orgRestoreWindow * 1000;
        await this.deleted.delete(transaction, [orgId], now, purgeAt);
        return { ok: true, purgeAt: new Date(purgeAt).toISOString() };
      },
      follow: async (transaction, { revision: orgRevision }) => {
        const ended = await this.invitations.revokeAll(transaction, orgId);
        const of = { actor, orgId, orgRevision };
        const revoked = revocations(ended, 'org_deleted').map((event) => Object.assign(event, of));
        await this.events.record(transaction, { ...of, type: 'org.deleted' }, ...revoked);
      },
    });
  }

  /** @throws OrgNotFoundError for everybody but an owner, and when it is not deleted or its time is over */
  async restore(id: string, write: Write): Promise<OrgResult> {
    const { actor } = write;
    let revision = 0;
    const restored = await this.writes.run(write, id, async (transaction) => {
      const isThere = await this.deleted.lockRestorable(transaction, id, Date.now());
      const org = isThere ? await this.deleted.findOwned(transaction, id, actor.id) : undefined;
      if (!org) throw new OrgNotFoundError();
      await this.deleted.restore(transaction, id);
      ({ revision } = org);
      await this.events.record(transaction, {
        type: 'org.restored',
        actor,
        orgId: id,
        orgRevision: revision,
      });
      return { org: { id, name: org.name } };
    });
    write.tagAnswer?.(revision);
    return restored;
  }
}
