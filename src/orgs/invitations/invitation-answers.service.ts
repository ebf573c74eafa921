import { Injectable } from '@nestjs/common';
import { EmailCodesRepository } from '../../auth/email-codes/email-codes.repository.js';
import { EmailCodes, MAX_CODE_TRIES, typedCode } from '../../auth/email-codes/email-codes.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import type { Invitation } from '../state/org.entity.js';
import { type CandidateInvitation, InvitationListsRepository } from '../state/invitations.lists.js';
import {
  type AnsweringFacts,
  answeringOf,
  type Found,
  InvitationsRepository,
} from '../state/invitations.repository.js';
import type { UserActor } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import type { NewEvent } from '../../events/event-types.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { OkResponse } from '../../http/fields.js';
import type { Versioned } from '../../requests/entity-tags.js';
import type { Write } from '../../requests/write.js';
import { UserUpdatesRepository } from '../../users/users.updates.js';
import { invitationData, type LockedOrg, OrgChanges } from '../state/org-changes.js';
import { isOpen, requireAcceptance, requireAnswer } from '../state/policies.js';
import { MembersRepository } from '../state/members.repository.js';
import { TooManyOrgsError } from '../state/orgs.errors.js';
import type { AcceptedResponse } from './invitations.responses.js';
import { Problem } from '../../problems/problem.js';

/** Takes the same time if there is no invitation. */
const NOBODY: CandidateInvitation = { id: '00000000-0000-7000-8000-000000000000', orgId: '', codeNumber: 0 };

export type NamedInvitation = { id: string; code?: string | undefined } | { email: string; code: string };

interface Named extends Pick<Invitation, 'id' | 'orgId'> {
  hasCode: (facts: AnsweringFacts) => boolean;
}

interface Answering {
  org: LockedOrg;
  facts: AnsweringFacts;
  hasCode: boolean;
}

/** No error reveals whether the code or the email is wrong. */
@Injectable()
export class InvitationAnswers {
  constructor(
    private readonly changes: OrgChanges,
    private readonly invitations: InvitationsRepository,
    private readonly lists: InvitationListsRepository,
    private readonly members: MembersRepository,
    private readonly users: UserUpdatesRepository,
    private readonly codes: EmailCodes,
    private readonly codeRows: EmailCodesRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** A right code counts as a try for its invitation, a wrong one for each candidate. @throws invalid_invitation_code */
  async tryCode(email: string, typed: string, principal: string): Promise<CandidateInvitation> {
    const code = typedCode(typed);
    if (code === undefined) throw new Problem('invalid_invitation_code');
    const found = await this.lists.findCandidates(email, Date.now());
    const candidates = found.length > 0 ? found : [NOBODY];
    const right = candidates.find((candidate) => this.isDerived(candidate, code));
    const tried = right ? [right] : candidates;
    // Counts the try before the response, so that concurrent tries cannot exceed the limit.
    const ids = tried.map(({ id }) => id);
    const counted = await this.transactions.run({ principal }, async (tx) => {
      // Writes for every email, so that the time does not reveal which ones are invited.
      await this.codeRows.keep(tx, { purpose: 'invitation', subject: email });
      return this.invitations.countTries(tx, ids);
    });
    if (!right || counted === 0) throw new Problem('invalid_invitation_code');
    return right;
  }

  async register<T extends { actor: UserActor }>(
    { id, orgId, codeNumber }: CandidateInvitation,
    client: string,
    create: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const actor = { kind: 'system', address: client } as const;
    const { answer } = await this.changes.inAnyOrg(
      { actor },
      orgId,
      answeringOf(id, ''),
      async (tx, org, facts) => {
        const isCurrent = facts?.id && facts.codeNumber === codeNumber && isOpen(facts, Date.now());
        if (!org || !isCurrent) throw new Problem('invalid_invitation_code');
        const registered = await create(tx);
        const isMember = await this.makeMember(tx, registered.actor, { org, facts, hasCode: true });
        if (!isMember) throw new Problem('invalid_invitation_code');
        return registered;
      },
    );
    return answer;
  }

  accept(write: Write, named: NamedInvitation): Promise<Versioned<AcceptedResponse>> {
    const { actor } = write;
    return this.answer(write, named, async (tx, answering) => {
      const { facts, hasCode } = answering;
      requireAcceptance(facts, hasCode, Date.now());
      if (!(await this.makeMember(tx, actor, answering))) {
        const isThere = (await this.users.lockEpoch(tx, actor.id)) !== undefined;
        throw isThere ? new TooManyOrgsError(this.env.maxOrgsPerUser) : new Problem('invitation_not_found');
      }
      return { org: { id: facts.orgId, name: facts.orgName }, role: facts.role };
    });
  }

  async decline(write: Write, named: NamedInvitation): Promise<OkResponse> {
    const { answer } = await this.answer<OkResponse>(write, named, async (tx, { org, facts, hasCode }) => {
      requireAnswer(facts, hasCode, Date.now());
      if (!(await this.invitations.end(tx, facts.id, 'declined'))) throw new Problem('invitation_ended');
      await org.record({ type: 'invitation.declined', userId: write.actor.id, data: invitationData(facts) });
      return { ok: true };
    });
    return answer;
  }

  private async answer<Answer extends object>(
    write: Write,
    named: NamedInvitation,
    work: (tx: Transaction, answering: Answering) => Promise<Answer>,
  ): Promise<Versioned<Answer>> {
    const { actor } = write;
    const { id, orgId, hasCode } = await ('id' in named
      ? this.nameById(actor, named.id, named.code)
      : this.nameByCode(actor, named.email, named.code));
    const answer = async (
      tx: Transaction,
      org: LockedOrg | undefined,
      facts: Found<AnsweringFacts> | undefined,
    ): Promise<Answer> => {
      if (!org || !facts?.id) throw new Problem('invitation_ended');
      return work(tx, { org, facts, hasCode: hasCode(facts) });
    };
    return this.changes.inAnyOrg(write, orgId, answeringOf(id, actor.id), answer, { evenSuspended: true });
  }

  private async nameById(actor: UserActor, id: string, typed: string | undefined): Promise<Named> {
    const orgId = await this.invitations.findOrgOfReceived(id, actor.id);
    if (orgId === undefined) throw new Problem('invitation_not_found');
    const code = typed === undefined ? undefined : typedCode(typed);
    const isCounted = code !== undefined && (await this.invitations.countTry(id));
    const hasCode = (facts: AnsweringFacts): boolean => {
      const isRight = isCounted && facts.tries <= MAX_CODE_TRIES && this.isDerived(facts, code);
      // Reveal nothing until the caller has proved that they own the email.
      if (typed !== undefined && !isRight && facts.userVerifiedAt === null)
        throw new Problem('invalid_invitation_code');
      return isRight;
    };
    return { id, orgId, hasCode };
  }

  private async nameByCode(actor: UserActor, email: string, typed: string): Promise<Named> {
    const { id, orgId, codeNumber } = await this.tryCode(email, typed, actor.id);
    const hasCode = (facts: AnsweringFacts): boolean => {
      const isOwn = facts.userEmail === facts.email;
      if (!isOwn || facts.codeNumber !== codeNumber) throw new Problem('invalid_invitation_code');
      return true;
    };
    return { id, orgId, hasCode };
  }

  private isDerived({ id, codeNumber }: Pick<Invitation, 'id' | 'codeNumber'>, code: string): boolean {
    return this.codes.isDerived({ id, codeNumber, purpose: 'invitation' }, code);
  }

  private async makeMember(tx: Transaction, actor: UserActor, answering: Answering): Promise<boolean> {
    const { org, facts } = answering;
    const { id, orgId, role } = facts;
    const { id: userId } = actor;
    if (!(await this.invitations.end(tx, id, 'accepted'))) throw new Problem('invitation_ended');
    const member = { orgId, userId, role, joinedAt: Date.now() };
    if (!(await this.members.insert(tx, member, this.env.maxOrgsPerUser))) return false;
    const suspended = await this.members.suspensionOf(tx, org, userId);
    const about = { actor, orgId, orgRevision: org.revision };
    await this.events.record(
      tx,
      ...(await this.verifyEmail(tx, actor, answering)),
      { ...about, type: 'invitation.accepted', userId, data: invitationData(facts) },
      { ...about, type: 'member.added', userId, data: { role, via: 'invitation', ...suspended } },
    );
    return true;
  }

  /** An emailed code proves the email; a code that the inviter saw proves nothing. */
  private async verifyEmail(tx: Transaction, actor: UserActor, answering: Answering): Promise<NewEvent[]> {
    const { facts, hasCode } = answering;
    const { codeShown, userVerifiedAt, email } = facts;
    const { id: userId } = actor;
    if (!hasCode || codeShown === 1 || userVerifiedAt !== null) return [];
    if (!(await this.users.proveEmail(tx, userId, email))) return [];
    const { revision: userRevision } = await this.users.stateOf(tx, userId);
    return [{ type: 'account.email_verified', actor, userId, userRevision }];
  }
}
