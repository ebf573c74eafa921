import { Injectable } from '@nestjs/common';
import { InvalidMailCodeError } from '../auth/mail-codes/mail-codes.errors.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../record/events.repository.js';
import { OK, type OkResult } from '../http/ok.responses.js';
import { answerEvent } from '../orgs/invitations/invitation-events.js';
import {
  type AnsweringFacts,
  InvitationFactsRepository,
} from '../orgs/invitations/invitation-facts.repository.js';
import { requireAcceptance, requireAnswer } from '../orgs/invitations/invitation-policy.js';
import { InvitationEndedError, InvitationNotFoundError } from '../orgs/invitations/invitations.errors.js';
import { InvitationsRepository } from '../orgs/invitations/invitations.repository.js';
import { OrgNotFoundError } from '../orgs/members/memberships.errors.js';
import { OrgWrites } from '../orgs/org-writes.js';
import { TooManyOrgsError } from '../orgs/orgs.errors.js';
import type { Write } from '../requests/write.js';
import type { AcceptedResult } from '../orgs/invitations/dto/invitation.responses.js';
import { Joinings } from '../orgs/invitations/joinings.js';
import { TypedCodes } from '../orgs/invitations/typed-codes.js';

interface Answer<Result> {
  decide: (facts: AnsweringFacts, hasCode: boolean, now: number) => void;
  work: (transaction: Transaction, facts: AnsweringFacts, hasCode: boolean) => Promise<Result | undefined>;
  refusal?: () => Error;
}

/** Whether the caller presented the code; throws if they may not even learn what became of the invitation. */
type Proof = (facts: AnsweringFacts) => boolean;

@Injectable()
export class OwnInvitationsService {
  constructor(
    private readonly orgWrites: OrgWrites,
    private readonly facts: InvitationFactsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly typedCodes: TypedCodes,
    private readonly joinings: Joinings,
    private readonly events: EventsRepository,
    private readonly env: Env,
  ) {}

  /** @throws what `decline` throws, AlreadyMemberError, TooManyOrgsError */
  accept(write: Write, id: string, code: string | undefined): Promise<AcceptedResult> {
    return this.answerById(write, id, code, this.acceptance(write));
  }

  /** @throws what `declineByCode` throws, AlreadyMemberError, TooManyOrgsError */
  acceptByCode(write: Write, email: string, code: string): Promise<AcceptedResult> {
    return this.answerByCode(write, email, code, this.acceptance(write));
  }

  /** @throws InvitationNotFoundError, EmailNotVerifiedError, InvalidMailCodeError, InvitationEndedError */
  decline(write: Write, id: string, code: string | undefined): Promise<OkResult> {
    return this.answerById(untagged(write), id, code, this.refusal(write));
  }

  /** @throws InvalidMailCodeError, InvitationEndedError */
  declineByCode(write: Write, email: string, code: string): Promise<OkResult> {
    return this.answerByCode(untagged(write), email, code, this.refusal(write));
  }

  private acceptance({ actor }: Write): Answer<AcceptedResult> {
    return {
      decide: requireAcceptance,
      work: async (transaction, facts, hasCode) => {
        const isMember = await this.joinings.join(transaction, facts, { userId: actor.id, actor, hasCode });
        return isMember ? { org: { id: facts.orgId, name: facts.orgName }, role: facts.role } : undefined;
      },
      refusal: () => new TooManyOrgsError(this.env.maxOrgsPerUser),
    };
  }

  private refusal({ actor }: Write): Answer<OkResult> {
    return {
      decide: requireAnswer,
      work: async (transaction, facts) => {
        const { id, orgId, revision: orgRevision } = facts;
        if (!(await this.invitations.end(transaction, id, 'declined'))) throw new InvitationEndedError();
        const event = answerEvent('invitation.declined', facts, actor.id);
        await this.events.record(transaction, { ...event, actor, orgId, orgRevision });
        return OK;
      },
    };
  }

  private async answerById<Result extends object>(
    write: Write,
    id: string,
    typed: string | undefined,
    answer: Answer<Result>,
  ): Promise<Result> {
    const facts = await this.facts.answering.find({ id, userId: write.actor.id });
    if (!facts || facts.userEmail !== facts.email) throw new InvitationNotFoundError();
    const code = typed === undefined ? undefined : await this.typedCodes.count(id, typed);
    return this.answer(write, facts, answer, (latest) => {
      const hasCode = code !== undefined && this.typedCodes.isRight(latest, code);
      const isWrong = typed !== undefined && !hasCode;
      // Reveal nothing until the caller has proved that they own the e-mail.
      if (isWrong && latest.userVerifiedAt === null) throw new InvalidMailCodeError();
      return hasCode;
    });
  }

  /** Errors do not tell whether the code or the e-mail is wrong. */
  private async answerByCode<Result extends object>(
    write: Write,
    email: string,
    typed: string,
    answer: Answer<Result>,
  ): Promise<Result> {
    const found = await this.typedCodes.find(email, typed, write.actor.id);
    const facts = found && (await this.facts.answering.find({ id: found.id, userId: write.actor.id }));
    if (!facts) throw new InvalidMailCodeError();
    return this.answer(write, facts, answer, (latest) => {
      const isOwn = latest.userEmail === latest.email;
      if (!isOwn || latest.codeNumber !== found.codeNumber) throw new InvalidMailCodeError();
      return true;
    });
  }

  private async answer<Result extends object>(
    write: Write,
    facts: AnsweringFacts,
    { decide, work, refusal }: Answer<Result>,
    prove: Proof,
  ): Promise<Result> {
    const key = { id: facts.id, userId: write.actor.id };
    try {
      return await this.orgWrites.runDecided(write, facts.orgId, {
        find: async () => facts,
        read: (transaction) => this.facts.answering.findIn(transaction, key),
        // A caller who has proved that they own the e-mail learns what became of the invitation.
        evenDeleted: true,
        decide: (latest) => {
          const hasCode = prove(latest);
          decide(latest, hasCode, Date.now());
          return hasCode;
        },
        work,
        refusal,
      });
    } catch (error) {
      // The organization was purged meanwhile, so there is nothing to answer.
      throw error instanceof OrgNotFoundError ? new InvitationEndedError() : error;
    }
  }
}

/** A user who declines has no access to the organization, and learns nothing of its state. */
function untagged(write: Write): Write {
  const { tagAnswer: _, ...rest } = write;
  return rest;
}
