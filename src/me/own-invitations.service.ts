import { Injectable } from '@nestjs/common';
import { InvalidEmailCodeError } from '../auth/email-codes/email-codes.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Env } from '../config/env.js';
import { OK, type OkResult } from '../http/ok.responses.js';
import type { AcceptedResult } from '../orgs/invitations/invitations.responses.js';
import { answerEvent } from '../orgs/state/invitation-events.js';
import { requireAcceptance, requireAnswer } from '../orgs/state/invitation-policy.js';
import {
  InvitationEndedError,
  InvitationNotFoundError,
  TooManyOrgsError,
} from '../orgs/state/orgs.errors.js';
import { type AnsweringFacts, InvitationsRepository } from '../orgs/state/invitations.repository.js';
import { Joinings } from '../orgs/invitations/joinings.js';
import { TypedCodes } from '../orgs/invitations/typed-codes.js';
import { type LockedOrg, OrgChanges } from '../orgs/state/org-changes.js';
import { UserChangesRepository } from '../users/user-changes.repository.js';
import type { Versioned } from '../requests/entity-tags.js';
import type { Write } from '../requests/write.js';

interface Answered {
  id: string;
  orgId: string;
  /** whether the caller has its code; throws if they may not even learn what became of the invitation */
  hasCode: (facts: AnsweringFacts) => boolean;
}

@Injectable()
export class OwnInvitationsService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly invitations: InvitationsRepository,
    private readonly typedCodes: TypedCodes,
    private readonly joinings: Joinings,
    private readonly users: UserChangesRepository,
    private readonly env: Env,
  ) {}

  /** @throws what `decline` throws, AlreadyMemberError, TooManyOrgsError */
  async accept(write: Write, id: string, code: string | undefined): Promise<Versioned<AcceptedResult>> {
    return this.join(write, await this.findById(write, id, code));
  }

  /** @throws what `declineByCode` throws, AlreadyMemberError, TooManyOrgsError */
  async acceptByCode(write: Write, email: string, code: string): Promise<Versioned<AcceptedResult>> {
    return this.join(write, await this.findByCode(write, email, code));
  }

  /** @throws InvitationNotFoundError, EmailNotVerifiedError, InvalidEmailCodeError, InvitationEndedError */
  async decline(write: Write, id: string, code: string | undefined): Promise<OkResult> {
    return this.refuse(write, await this.findById(write, id, code));
  }

  /** @throws InvalidEmailCodeError, InvitationEndedError */
  async declineByCode(write: Write, email: string, code: string): Promise<OkResult> {
    return this.refuse(write, await this.findByCode(write, email, code));
  }

  private async findById({ actor }: Write, id: string, typed: string | undefined): Promise<Answered> {
    const found = await this.invitations.findAnswering(id, actor.id);
    if (!found || found.userEmail !== found.email) throw new InvitationNotFoundError();
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

  /** Errors do not tell whether the code or the email is wrong. */
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
      if (!(await this.joinings.join(tx, org, facts, acceptance))) {
        const isThere = (await this.users.lockEpoch(tx, actor.id)) !== undefined;
        throw isThere ? new TooManyOrgsError(this.env.maxOrgsPerUser) : new InvitationNotFoundError();
      }
      return { org: { id: facts.orgId, name: facts.orgName }, role: facts.role };
    });
  }

  /** A user who declines has no access to the organization, and learns nothing of its state. */
  private async refuse(write: Write, answered: Answered): Promise<OkResult> {
    const { answer } = await this.answer(write, answered, async (tx, org, facts) => {
      requireAnswer(facts, answered.hasCode(facts), Date.now());
      if (!(await this.invitations.end(tx, facts.id, 'declined'))) throw new InvitationEndedError();
      await org.record(answerEvent('invitation.declined', facts, write.actor.id));
      return OK;
    });
    return answer;
  }

  private answer<Answer extends object>(
    write: Write,
    { id, orgId }: Answered,
    work: (transaction: Transaction, org: LockedOrg, facts: AnsweringFacts) => Promise<Answer>,
  ): Promise<Versioned<Answer>> {
    const missing = (): InvitationEndedError => new InvitationEndedError();
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
}
