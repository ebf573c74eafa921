import { Injectable } from '@nestjs/common';
import { typedCode } from '../../auth/email-codes/email-code-text.js';
import { EmailCodes, InvalidEmailCodeError } from '../../auth/email-codes/email-codes.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import type { Invitation } from '../state/org.entity.js';
import { type CandidateInvitation, InvitationLists } from '../state/invitations.lists.js';
import {
  type AnsweringFacts,
  InvitationsRepository,
  MAX_CODE_TRIES,
} from '../state/invitations.repository.js';
import type { UserActor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { NewEvent } from '../../events/event-types.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { OkResult } from '../../http/fields.js';
import type { Versioned } from '../../requests/entity-tags.js';
import type { Write } from '../../requests/write.js';
import { UserUpdates } from '../../users/users.updates.js';
import { invitationData, type LockedOrg, OrgChanges } from '../state/org-changes.js';
import { isOpen, requireAcceptance, requireAnswer } from '../state/invitation-policy.js';
import { MembersRepository } from '../state/members.repository.js';
import { TooManyOrgsError } from '../state/orgs.errors.js';
import type { AcceptedResult } from './invitations.responses.js';
import { Problem } from '../../problems/problem.js';

/** Stands in where there is no invitation, so that it costs the same work. */
const NOBODY: CandidateInvitation = {
  id: '00000000-0000-7000-8000-000000000000',
  orgId: '',
  codeNumber: 0,
};

@Injectable()
export class TypedCodes {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly list: InvitationLists,
    private readonly codes: EmailCodes,
    private readonly transactions: Transactions,
  ) {}

  async count(invitationId: string, typed: string): Promise<string | undefined> {
    const code = typedCode(typed);
    const counts = code !== undefined && (await this.invitations.countTry(invitationId));
    return counts ? code : undefined;
  }

  isRight(invitation: Pick<Invitation, 'id' | 'codeNumber' | 'tries'>, code: string): boolean {
    return this.isDerived(invitation, code) && invitation.tries <= MAX_CODE_TRIES;
  }

  /** A right code counts as a try for its invitation, a wrong one as a try for each candidate. */
  async find(email: string, typed: string, principal: string): Promise<CandidateInvitation | undefined> {
    const code = typedCode(typed);
    if (code === undefined) return undefined;
    const found = await this.list.findCandidates(email, Date.now());
    const candidates = found.length > 0 ? found : [NOBODY];
    const right = candidates.find((candidate) => this.isDerived(candidate, code));
    const tried = right ? [right] : candidates;
    // Counts the try before the answer, so that concurrent ones cannot exceed the limit.
    const ids = tried.map(({ id }) => id);
    const counted = await this.transactions.run({ principal }, async (tx) => {
      // Writes for every email: the time must not reveal which ones are invited.
      await this.codes.keepPlace(tx, { purpose: 'invitation', subject: email });
      return this.invitations.countTries(tx, ids);
    });
    return counted > 0 ? right : undefined;
  }

  private isDerived({ id, codeNumber }: Pick<Invitation, 'id' | 'codeNumber'>, code: string): boolean {
    return this.codes.isDerived({ id, codeNumber, purpose: 'invitation' }, code);
  }
}

interface Answered {
  id: string;
  orgId: string;
  /** throws if the caller may not learn what became of the invitation */
  hasCode: (facts: AnsweringFacts) => boolean;
}

interface Acceptance {
  userId: string;
  actor: UserActor;
  hasCode: boolean;
}

interface Registered {
  user: { id: string };
  actor: UserActor;
}

/** Accepts and declines invitations. Errors do not tell whether the code or the email is wrong. */
@Injectable()
export class InvitationAnswers {
  constructor(
    private readonly changes: OrgChanges,
    private readonly invitations: InvitationsRepository,
    private readonly members: MembersRepository,
    private readonly typedCodes: TypedCodes,
    private readonly users: UserUpdates,
    private readonly events: EventsRepository,
    private readonly env: Env,
  ) {}

  /** Counts a try of the client. @throws InvalidEmailCodeError */
  async findForRegistration(email: string, code: string, client: string): Promise<CandidateInvitation> {
    const invitation = await this.typedCodes.find(email, code, client);
    if (!invitation) throw new InvalidEmailCodeError();
    return invitation;
  }

  async register<T extends Registered>(
    { id, orgId, codeNumber }: CandidateInvitation,
    client: string,
    create: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const { answer } = await this.changes.inOrg<T>(
      { actor: { kind: 'system', address: client } },
      orgId,
      async (tx, org) => {
        const facts = await this.invitations.findAnswering(id, '', tx);
        if (!facts || facts.codeNumber !== codeNumber || !isOpen(facts, Date.now())) {
          throw new InvalidEmailCodeError();
        }
        const registered = await create(tx);
        const { user, actor } = registered;
        const isMember = await this.makeMember(tx, org, facts, { userId: user.id, actor, hasCode: true });
        if (!isMember) throw new InvalidEmailCodeError();
        return registered;
      },
      { evenDeleted: true, missing: () => new InvalidEmailCodeError() },
    );
    return answer;
  }

  async accept(write: Write, id: string, code: string | undefined): Promise<Versioned<AcceptedResult>> {
    return this.join(write, await this.findById(write, id, code));
  }

  async acceptByCode(write: Write, email: string, code: string): Promise<Versioned<AcceptedResult>> {
    return this.join(write, await this.findByCode(write, email, code));
  }

  async decline(write: Write, id: string, code: string | undefined): Promise<OkResult> {
    return this.refuse(write, await this.findById(write, id, code));
  }

  async declineByCode(write: Write, email: string, code: string): Promise<OkResult> {
    return this.refuse(write, await this.findByCode(write, email, code));
  }

  private async findById({ actor }: Write, id: string, typed: string | undefined): Promise<Answered> {
    const found = await this.invitations.findAnswering(id, actor.id);
    if (!found || found.userEmail !== found.email) throw new Problem('invitation_not_found');
    const code = typed === undefined ? undefined : await this.typedCodes.count(id, typed);
    const hasCode = (facts: AnsweringFacts): boolean => {
      const isRight = code !== undefined && this.typedCodes.isRight(facts, code);
      const isWrong = typed !== undefined && !isRight;
      // Reveal nothing until the caller has proved that they own the email.
      if (isWrong && facts.userVerifiedAt === null) throw new InvalidEmailCodeError();
      return isRight;
    };
    return { id, orgId: found.orgId, hasCode };
  }

  private async findByCode({ actor }: Write, email: string, typed: string): Promise<Answered> {
    const found = await this.typedCodes.find(email, typed, actor.id);
    if (!found) throw new InvalidEmailCodeError();
    const { id, orgId, codeNumber } = found;
    const hasCode = (facts: AnsweringFacts): boolean => {
      const isOwn = facts.userEmail === facts.email;
      if (!isOwn || facts.codeNumber !== codeNumber) throw new InvalidEmailCodeError();
      return true;
    };
    return { id, orgId, hasCode };
  }

  private join(write: Write, answered: Answered): Promise<Versioned<AcceptedResult>> {
    const { actor } = write;
    return this.answer(write, answered, async (tx, org, facts) => {
      const hasCode = answered.hasCode(facts);
      requireAcceptance(facts, hasCode, Date.now());
      const acceptance = { userId: actor.id, actor, hasCode };
      if (!(await this.makeMember(tx, org, facts, acceptance))) {
        const isThere = (await this.users.lockEpoch(tx, actor.id)) !== undefined;
        throw isThere ? new TooManyOrgsError(this.env.maxOrgsPerUser) : new Problem('invitation_not_found');
      }
      return { org: { id: facts.orgId, name: facts.orgName }, role: facts.role };
    });
  }

  /** A user who declines learns nothing about the organization. */
  private async refuse(write: Write, answered: Answered): Promise<OkResult> {
    const { answer } = await this.answer(write, answered, async (tx, org, facts) => {
      requireAnswer(facts, answered.hasCode(facts), Date.now());
      if (!(await this.invitations.end(tx, facts.id, 'declined'))) throw new Problem('invitation_ended');
      await org.record({ type: 'invitation.declined', userId: write.actor.id, data: invitationData(facts) });
      return { ok: true as const };
    });
    return answer;
  }

  private answer<Answer extends object>(
    write: Write,
    { id, orgId }: Answered,
    work: (tx: Transaction, org: LockedOrg, facts: AnsweringFacts) => Promise<Answer>,
  ): Promise<Versioned<Answer>> {
    const missing = (): Problem => new Problem('invitation_ended');
    return this.changes.inOrg<Answer>(
      write,
      orgId,
      async (tx, org) => {
        const facts = await this.invitations.findAnswering(id, write.actor.id, tx);
        if (!facts) throw missing();
        return work(tx, org, facts);
      },
      { evenDeleted: true, missing },
    );
  }

  /** @returns false if the user no longer exists or has reached the limit of organizations */
  private async makeMember(
    tx: Transaction,
    org: LockedOrg,
    facts: AnsweringFacts,
    acceptance: Acceptance,
  ): Promise<boolean> {
    const { userId, actor } = acceptance;
    const { id, orgId, role } = facts;
    if (!(await this.invitations.end(tx, id, 'accepted'))) throw new Problem('invitation_ended');
    const member = { orgId, userId, role, joinedAt: Date.now() };
    if (!(await this.members.insert(tx, member, this.env.maxOrgsPerUser))) return false;
    const about = { actor, orgId, orgRevision: org.revision };
    await this.events.record(
      tx,
      ...(await this.verifyEmail(tx, facts, acceptance)),
      { ...about, type: 'invitation.accepted', userId, data: invitationData(facts) },
      { ...about, type: 'member.added', userId, data: { role, via: 'invitation' } },
    );
    return true;
  }

  /** A code that was mailed proves the email; one that the inviter saw proves nothing. */
  private async verifyEmail(
    tx: Transaction,
    { codeShown, userVerifiedAt, email }: AnsweringFacts,
    { userId, actor, hasCode }: Acceptance,
  ): Promise<NewEvent[]> {
    if (!hasCode || codeShown === 1 || userVerifiedAt !== null) return [];
    if (!(await this.users.proveEmail(tx, userId, email))) return [];
    const { revision: userRevision } = await this.users.stateOf(tx, userId);
    return [{ type: 'account.email_verified', actor, userId, userRevision }];
  }
}
