import { Injectable } from '@nestjs/common';
import { type Actor, principalOf, type Role } from '../access/principal.js';
import { Env } from '../config/env.js';
import { inBatches } from '../database/statements.js';
import { isUniqueViolation } from '../database/transactions/database-errors.js';
import { type Transaction, Transactions, Unchanged } from '../database/transactions/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { Problem } from '../problems/problem.js';
import { UsersRepository } from '../users/users.repository.js';
import { InvitationsRepository } from './state/invitations.repository.js';
import { MembersRepository } from './state/members.repository.js';
import { ORGS_KEY } from './state/org.entity.js';
import { OrgChanges, type OrgEvent, revocations } from './state/org-changes.js';
import { NO_FACTS, OrgsRepository } from './state/orgs.repository.js';

/** The name and the emails are normalized, and no email is there twice. */
export interface ForeignOrg {
  id: string;
  name: string;
  members: readonly ForeignMember[];
}

export interface ForeignMember {
  email: string;
  role: Role;
}

/** The outcomes are in the order of the members. */
export interface OrgImportOutcome {
  refused?: 'no_owner' | 'org_deleted' | 'org_purged';
  isCreated: boolean;
  members: MemberOutcome[];
}

type MemberOutcome = 'added' | 'present' | 'user_not_found' | 'user_disabled' | 'user_has_too_many_orgs';

interface NewMember {
  place: number;
  userId: string;
  email: string;
  role: Role;
}

class NoOwnerError extends Error {}

const FIRST_REVISION = 1;

@Injectable()
export class OrgImport {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly users: UsersRepository,
    private readonly events: EventsRepository,
    private readonly changes: OrgChanges,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** Adds what is missing, 500 members in each transaction. The first one creates the organization with its owners. */
  async import(foreign: ForeignOrg, actor: Actor, isWritten: boolean): Promise<OrgImportOutcome> {
    const { id } = foreign;
    const refusedAs = (refused: OrgImportOutcome['refused']) => ({
      refused,
      isCreated: false,
      members: outcomes,
    });
    const outcomes: MemberOutcome[] = foreign.members.map(() => 'present');
    // Before the organization: another import may create it meanwhile, and then its owner is not missing.
    const missing = await this.findMissing(foreign, outcomes);
    const found = await this.orgs.find(id);
    if (found && found.deletedAt !== null) return refusedAs('org_deleted');
    // Another organization must not get the audit log of this id.
    const purged = found ? [] : await this.events.findMatching({ orgId: id, type: 'org.purged' }, 1);
    if (purged.length > 0) return refusedAs('org_purged');

    if (!found && !missing.some(({ role }) => role === 'owner')) return refusedAs('no_owner');
    let exists = found !== null;
    for await (const batch of inBatches(isWritten ? missing : [])) {
      try {
        const added = exists ? await this.extend(id, batch, actor) : await this.create(foreign, batch, actor);
        for (const [index, { place }] of batch.entries()) outcomes[place] = added[index]!;
        exists = true;
      } catch (error) {
        if (error instanceof NoOwnerError) return refusedAs('no_owner');
        // Another import has created it.
        if (!exists && isUniqueViolation(error, ORGS_KEY)) return this.import(foreign, actor, isWritten);
        throw error;
      }
    }
    return { isCreated: !found, members: outcomes };
  }

  /** Owners come first. */
  private async findMissing({ id, members }: ForeignOrg, outcomes: MemberOutcome[]): Promise<NewMember[]> {
    const missing: NewMember[] = [];
    for await (const batch of inBatches([...members.entries()])) {
      const emails = batch.map(([, { email }]) => email);
      const found = await this.users.findPresent(emails, []);
      const ids = new Map(found.map((user) => [user.email, user.id]));
      const active = new Set(await this.users.findActiveEmails(emails));
      const memberships = await Promise.all(
        batch.map(([, { email }]) => this.members.findMembership(id, ids.get(email) ?? '')),
      );
      for (const [index, [place, { email, role }]] of batch.entries()) {
        const userId = ids.get(email);
        if (memberships[index]?.role) continue;
        if (userId === undefined) outcomes[place] = 'user_not_found';
        else if (role === 'owner' && !active.has(email)) outcomes[place] = 'user_disabled';
        else {
          outcomes[place] = 'added';
          missing.push({ place, userId, email, role });
        }
      }
    }
    return missing.toSorted((a, b) => Number(b.role === 'owner') - Number(a.role === 'owner'));
  }

  private create({ id, name }: ForeignOrg, members: NewMember[], actor: Actor): Promise<MemberOutcome[]> {
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      await this.orgs.insert(tx, { id, name, createdAt: Date.now() });
      const outcomes = await this.insert(tx, id, members);
      const added = members.filter((_, index) => outcomes[index] === 'added');
      if (!added.some(({ role }) => role === 'owner')) throw new NoOwnerError();
      const about = { actor, orgId: id, orgRevision: FIRST_REVISION };
      await this.events.record(
        tx,
        { ...about, type: 'org.created' },
        ...added.map(({ userId, role }) =>
          Object.assign({ type: 'member.added', userId, data: { role, via: 'added' } } as const, about),
        ),
      );
      return outcomes;
    });
  }

  private async extend(id: string, members: NewMember[], actor: Actor): Promise<MemberOutcome[]> {
    const { answer } = await this.changes.inOrg({ actor }, id, NO_FACTS, async (tx, org) => {
      const outcomes = await this.insert(tx, id, members);
      const added: OrgEvent[] = [];
      const ended: OrgEvent[] = [];
      for (const [index, { userId, email, role }] of members.entries()) {
        if (outcomes[index] !== 'added') continue;
        const suspended = await this.members.suspensionOf(tx, org, userId);
        added.push({ type: 'member.added', userId, data: { role, via: 'added', ...suspended } });
        ended.push(...revocations(await this.invitations.revokeOfEmail(tx, id, email), 'member_added'));
      }
      if (added.length === 0) return new Unchanged(outcomes);
      await org.record(...added, ...ended);
      return outcomes;
    });
    return answer;
  }

  private async insert(tx: Transaction, orgId: string, members: NewMember[]): Promise<MemberOutcome[]> {
    const { maxOrgsPerUser } = this.env;
    const joinedAt = Date.now();
    const outcomes: MemberOutcome[] = [];
    for (const { userId, role } of members) {
      const member = { orgId, userId, role, joinedAt };
      try {
        const isAdded = await this.members.insert(tx, member, maxOrgsPerUser);
        outcomes.push(isAdded ? 'added' : 'user_has_too_many_orgs');
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'already_member')) throw error;
        outcomes.push('present');
      }
    }
    return outcomes;
  }
}
