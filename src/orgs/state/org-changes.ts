import { Injectable } from '@nestjs/common';
import type { EventType, EventWithout, NewEvent } from '../../events/event-types.js';
import type { Invitation } from './org.entity.js';
import type { EndedInvitation } from './invitations.repository.js';
import { principalOf } from '../../access/principal.js';
import { LostConflictError } from '../../database/transactions/database-errors.js';
import {
  type ChangeOutcome,
  doneUnlessUnchanged,
  Gone,
  type Transaction,
  Transactions,
  type Unchanged,
} from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { timeOrNull } from '../../identifiers/text.js';
import { Problem } from '../../problems/problem.js';
import { requireMatch, type Versioned } from '../../requests/entity-tags.js';
import type { AnyWrite } from '../../requests/write.js';
import { Writes } from '../../requests/writes.js';
import { requiredByOrg } from './orgs.errors.js';
import { type OrgFacts, type OrgRow, OrgsRepository } from './orgs.repository.js';
import { type LockedMembership, MembersRepository } from './members.repository.js';
import { type LockedUser, UserChanges } from '../../users/user-changes.js';

export type RevocationReason = NewEvent<'invitation.revoked'>['data']['reason'];

/** Leaves out the invited user, who would reveal whether the email has an account. */
export function invitationData({ id, role }: Pick<Invitation, 'id' | 'role'>) {
  return { invitationId: id, role };
}

export function revocations(ended: readonly EndedInvitation[], reason: RevocationReason) {
  return ended.map((invitation) => ({
    type: 'invitation.revoked' as const,
    data: { ...invitationData(invitation), reason },
  }));
}

export function requirementEvent(from: number | null) {
  return { type: 'org.second_factor_required', data: { from: timeOrNull(from) } } as const;
}

export type OrgEvent = EventWithout<
  'actor' | 'orgId' | 'orgRevision',
  EventType & `${'org' | 'member' | 'invitation' | 'key'}.${string}`
>;

export interface LockedOrg extends OrgRow {
  id: string;
  /** Call it once, so that all events have one time. */
  record: (...events: OrgEvent[]) => Promise<void>;
}

/** Which requests may act although the organization is deleted, or requires a second factor that the caller lacks. */
interface Exceptions {
  evenDeleted?: boolean;
  evenSuspended?: boolean;
}

type Work<Found, Facts, Answer> = (
  tx: Transaction,
  org: Found,
  facts: Facts,
) => Promise<Answer | Unchanged<Answer>>;

export type OrgOutcome<Answer> = Versioned<Answer> & { kind: 'done' | 'unchanged' };

class OrgNotLockedError extends Error {}

// Changes of an organization make an attempt fail. A client that adds a user in a loop must not delay the deletion.
const RETRY_TIMEOUT_MS = 8_000;

/** The only way to lock an organization. */
@Injectable()
export class OrgChanges {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly users: UserChanges,
    private readonly events: EventsRepository,
    private readonly writes: Writes,
    private readonly transactions: Transactions,
  ) {}

  /**
   * The lock is a write, because only writes conflict on a cluster. One statement reads the organization and the facts.
   * @param work runs again after a lost conflict
   */
  inOrg<Facts extends object, Answer extends object>(
    write: AnyWrite,
    orgId: string,
    facts: OrgFacts<Facts>,
    work: Work<LockedOrg, Facts, Answer>,
    { evenSuspended = false }: Pick<Exceptions, 'evenSuspended'> = {},
  ): Promise<OrgOutcome<Answer>> {
    return this.run(write, orgId, facts, (tx, org, found) => work(tx, org!, found!), { evenSuspended });
  }

  /** @param work like `inOrg`, for deleted organizations too; gets undefined if there is no organization */
  inAnyOrg<Facts extends object, Answer extends object>(
    write: AnyWrite,
    orgId: string,
    facts: OrgFacts<Facts>,
    work: Work<LockedOrg | undefined, Facts | undefined, Answer>,
    { evenSuspended = false }: Pick<Exceptions, 'evenSuspended'> = {},
  ): Promise<OrgOutcome<Answer>> {
    return this.run(write, orgId, facts, work, { evenDeleted: true, evenSuspended });
  }

  private async run<Facts extends object, Answer extends object>(
    write: AnyWrite,
    orgId: string,
    facts: OrgFacts<Facts>,
    work: Work<LockedOrg | undefined, Facts | undefined, Answer>,
    { evenDeleted = false, evenSuspended = false }: Exceptions,
  ): Promise<OrgOutcome<Answer>> {
    const { actor } = write;
    const actorId = actor.kind === 'user' ? actor.id : '';
    const request = write.kind === 'request' ? write : undefined;
    const turn = { principal: principalOf(actor), row: orgId };
    const outcome = await this.transactions.run(turn, async (tx) => {
      await this.orgs.raiseRevisions(tx, [orgId]);
      if (request) await this.writes.replay(tx, request);
      const row = await this.orgs.findWith(tx, orgId, actorId, facts);
      if (!evenDeleted && (!row || row.deletedAt !== null)) throw new Problem('org_not_found');
      // A user who loses the factor locks the organization as well, so this holds until COMMIT.
      if (request && row?.isFactorRequired && row.lacksActorFactor && !evenSuspended) throw requiredByOrg();
      const revision = row?.revision ?? 0;
      if (request) requireMatch(request, revision - 1);

      const about = { actor, orgId, orgRevision: revision };
      const record = (...events: OrgEvent[]): Promise<void> =>
        this.events.record(tx, ...events.map((event) => Object.assign(event, about)));
      const done = doneUnlessUnchanged(await work(tx, row && { ...row, id: orgId, record }, row));
      if (done.kind === 'unchanged') return Object.assign(done, { revision: revision - 1 });
      if (request) await this.writes.complete(tx, request, done.answer);
      return { ...done, revision };
    });
    if (request && outcome.kind === 'unchanged')
      await this.writes.completeUnchanged(request, orgId, outcome.answer);
    return outcome;
  }

  /** Locks every organization of the user, even deleted ones, then the user's row, which an addition needs as well. */
  async inOrgsOf<Answer extends object>(
    write: AnyWrite,
    userId: string,
    work: (
      tx: Transaction,
      user: LockedUser,
      memberships: LockedMembership[],
    ) => Promise<Answer | Unchanged<undefined>>,
  ): Promise<ChangeOutcome<Answer>> {
    const { actor } = write;
    const begun = performance.now();
    for (;;) {
      const locked = new Set(await this.members.findOrgIds(userId));
      const attempt = async (tx: Transaction): Promise<ChangeOutcome<Answer>> => {
        await this.orgs.raiseRevisions(tx, [...locked]);
        const user = await this.users.raise(tx, actor, userId);
        if (!user) return new Gone();
        const memberships = await this.members.findLockedMemberships(tx, userId);
        if (memberships.some(({ orgId }) => !locked.has(orgId))) throw new OrgNotLockedError();
        const done = doneUnlessUnchanged(await work(tx, user, memberships));
        if (write.kind === 'request' && done.kind === 'done')
          await this.writes.complete(tx, write, done.answer);
        return done;
      };
      try {
        return await this.transactions.run({ principal: principalOf(actor), row: userId }, attempt);
      } catch (error) {
        if (!(error instanceof OrgNotLockedError || error instanceof LostConflictError)) throw error;
        if (performance.now() - begun > RETRY_TIMEOUT_MS) throw new LostConflictError(error);
      }
    }
  }
}
