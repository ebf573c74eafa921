import { Injectable } from '@nestjs/common';
import { InvalidMailCodeError } from '../auth/mail-codes/mail-codes.errors.js';
import { Env } from '../config/env.js';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../events/events.repository.js';
import { OK, type OkResult } from '../http/ok.responses.js';
import { answerEvent } from '../memberships/invitation-events.js';
import {
  type AnsweringFacts,
  InvitationFactsRepository,
} from '../memberships/invitation-facts.repository.js';
import { requireAcceptance, requireAnswer } from '../memberships/invitation-policy.js';
import { InvitationEndedError, InvitationNotFoundError } from '../memberships/invitations.errors.js';
import { InvitationsRepository } from '../memberships/invitations.repository.js';
import { OrgNotFoundError } from '../memberships/memberships.errors.js';
import { OrgWrites } from '../memberships/org-writes.js';
import { TooManyOrgsError } from '../orgs/orgs.errors.js';
import type { Write } from '../writes/write.js';
import type { AcceptedResult } from './dto/invitation.responses.js';
import { Joinings } from './joinings.js';
import { TypedCodes } from './typed-codes.js';

interface Answer<Result> {
  /** as it was typed */
  code: string | undefined;
  decide: (facts: AnsweringFacts, hasCode: boolean, now: number) => void;
  work: (transaction: Transaction, facts: AnsweringFacts, hasCode: boolean) => Promise<Result | undefined>;
  /** of the database, under the lock */
  refusal?: () => Error;
}

/** What somebody who was invited answers. */
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

  /**
   * A member stays what he is.
   * @throws InvitationNotFoundError, EmailNotVerifiedError, InvalidMailCodeError, AlreadyMemberError,
   *   InvitationEndedError, TooManyOrgsError
   */
  accept(write: Write, id: string, code: string | undefined): Promise<AcceptedResult> {
    const { actor } = write;
    return this.answer(write, id, {
      code,
      decide: requireAcceptance,
      work: async (transaction, facts, hasCode) => {
        const isMember = await this.joinings.join(transaction, facts, { userId: actor.id, actor, hasCode });
        return isMember ? { org: { id: facts.orgId, name: facts.orgName }, role: facts.role } : undefined;
      },
      refusal: () => new TooManyOrgsError(this.env.maxOrgsPerUser),
    });
  }

  /** @throws InvitationNotFoundError, EmailNotVerifiedError, InvalidMailCodeError, InvitationEndedError */
  decline(write: Write, id: string, code: string | undefined): Promise<OkResult> {
    const { actor } = write;
    return this.answer(write, id, {
      code,
      decide: requireAnswer,
      work: async (transaction, facts) => {
        if (!(await this.invitations.end(transaction, id, 'declined'))) throw new InvitationEndedError();
        const { orgId, revision: orgRevision } = facts;
        const event = answerEvent('invitation.declined', facts, actor.id);
        await this.events.record(transaction, { ...event, actor, orgId, orgRevision });
        return OK;
      },
    });
  }

  private async answer<Result extends object>(
    write: Write,
    id: string,
    { code: typed, decide, work, refusal }: Answer<Result>,
  ): Promise<Result> {
    const key = { id, userId: write.actor.id };
    const facts = await this.facts.answering.find(key);
    if (!facts || facts.userEmail !== facts.email) throw new InvitationNotFoundError();
    const code = typed === undefined ? undefined : await this.typedCodes.count(id, typed);
    try {
      return await this.orgWrites.runDecided(write, facts.orgId, {
        find: async () => facts,
        read: (transaction) => this.facts.answering.findIn(transaction, key),
        // Whoever has not shown that the e-mail is his learns nothing of it.
        evenDeleted: true,
        decide: (latest) => {
          const hasCode = code !== undefined && this.typedCodes.isRight(latest, code);
          const isWrong = typed !== undefined && !hasCode;
          if (isWrong && latest.userVerifiedAt === null) throw new InvalidMailCodeError();
          decide(latest, hasCode, Date.now());
          return hasCode;
        },
        work,
        refusal,
      });
    } catch (error) {
      // Of an organization that was purged meanwhile there is nothing to answer.
      throw error instanceof OrgNotFoundError ? new InvitationEndedError() : error;
    }
  }
}
