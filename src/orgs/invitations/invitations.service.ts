import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { EventsRepository } from '../../record/events.repository.js';
import { OK, type OkResult } from '../../http/ok.responses.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import type { Invitation } from './invitation.entity.js';
import { invitationEvent, revocations } from './invitation-events.js';
import {
  InvitationFactsRepository,
  type InvitingFacts,
  type RenewingFacts,
} from './invitation-facts.repository.js';
import { InvitationMails } from './invitation-mails.js';
import { requireInviting, requireRenewing, requireRevoking } from './invitation-policy.js';
import { InvitationNotFoundError, TooManyInvitationsError } from './invitations.errors.js';
import { InvitationsRepository } from './invitations.repository.js';
import { OrgWrites } from '../org-writes.js';
import type { Write } from '../../requests/write.js';
import type { CreateInvitationRequest } from './dto/create-invitation.request.js';
import type { ResendInvitationRequest } from './dto/resend-invitation.request.js';
import type { InvitationResult } from './dto/invitation.responses.js';
import { listedInvitation } from './invitation-views.js';

export const INVITATION_TTL_MS = 7 * 86_400_000;

/** Changes by the admins of an organization: they are the same whether or not the e-mail has an account. */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly orgWrites: OrgWrites,
    private readonly facts: InvitationFactsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly events: EventsRepository,
    private readonly mails: InvitationMails,
  ) {}

  /** @throws MailUnavailableError, AlreadyMemberError, AlreadyInvitedError, TooManyInvitationsError, RateLimitedError */
  async create(
    write: Write,
    orgId: string,
    { email, role, showCode = false }: CreateInvitationRequest,
  ): Promise<InvitationResult> {
    if (!showCode) this.mails.requireServer();
    const { actor } = write;
    const key = { orgId, actorId: actor.id, email };
    return this.withCode((note) =>
      this.orgWrites.runDecided(write, orgId, {
        find: () => this.facts.inviting.find(key),
        read: (transaction) => this.facts.inviting.findIn(transaction, key),
        decide: (facts) => requireInviting(facts, Date.now()),
        work: async (transaction, facts) => {
          const now = Date.now();
          await this.makeRoom(transaction, orgId, facts, now);
          const invitation = { ...aNewOne(now, actor.id, showCode), id: newEntityId(), orgId, email, role };
          await this.invitations.insert(transaction, invitation);
          const event = invitationEvent('invitation.created', invitation);
          await this.events.record(transaction, { ...event, actor, orgId, orgRevision: facts.revision });
          await this.handOver(transaction, { ...invitation, codeNumber: 1 }, note);
          return this.answer({ ...invitation, status: 'pending' }, facts);
        },
      }),
    );
  }

  /**
   * Creates a new code, valid for seven days; the caller becomes the inviter.
   * @throws InvitationNotFoundError, InvitationEndedError and what `create` throws
   */
  async resend(
    write: Write,
    orgId: string,
    id: string,
    { showCode = false }: ResendInvitationRequest,
  ): Promise<InvitationResult> {
    if (!showCode) this.mails.requireServer();
    const { actor } = write;
    return this.withCode((note) =>
      this.orgWrites.run(write, orgId, {
        read: (transaction) => this.requireFacts(transaction, { orgId, actorId: actor.id, id }),
        work: async (transaction, facts) => {
          const now = Date.now();
          requireRenewing(facts, now);
          if (facts.status !== 'pending') await this.makeRoom(transaction, orgId, facts, now);
          const { createdAt: _, ...renewal } = aNewOne(now, actor.id, showCode);
          await this.invitations.renew(transaction, id, renewal);
          const event = invitationEvent('invitation.resent', facts);
          await this.events.record(transaction, { ...event, actor, orgId, orgRevision: facts.revision });
          const renewed = {
            ...facts,
            ...renewal,
            codeNumber: facts.codeNumber + 1,
            status: 'pending',
          } as const;
          await this.handOver(transaction, renewed, note);
          return this.answer(renewed, facts);
        },
      }),
    );
  }

  /** @throws InvitationNotFoundError, InvitationEndedError */
  revoke(write: Write, orgId: string, id: string): Promise<OkResult> {
    const { actor } = write;
    return this.orgWrites.run(write, orgId, {
      read: (transaction) => this.requireFacts(transaction, { orgId, actorId: actor.id, id }),
      work: async (transaction, facts) => {
        requireRevoking(facts);
        await this.invitations.revoke(transaction, id);
        const [event] = revocations([facts], 'revoked');
        await this.events.record(transaction, { ...event!, actor, orgId, orgRevision: facts.revision });
        return OK;
      },
    });
  }

  private async requireFacts(
    transaction: Transaction,
    key: { orgId: string; actorId: string; id: string },
  ): Promise<RenewingFacts> {
    const facts = await this.facts.forRenewing(transaction, key);
    if (!facts) throw new InvitationNotFoundError();
    return facts;
  }

  /** Any other pending invitation for the e-mail has expired; otherwise the change would have been refused. */
  private async makeRoom(
    transaction: Transaction,
    orgId: string,
    { pendingId, lastOfMany }: InvitingFacts,
    now: number,
  ): Promise<void> {
    if (lastOfMany !== null) {
      if ((await this.invitations.endExpired(transaction, orgId, now)) === 0)
        throw new TooManyInvitationsError();
    } else if (pendingId !== null) {
      await this.invitations.end(transaction, pendingId, 'expired');
    }
  }

  private async handOver(
    transaction: Transaction,
    invitation: Pick<
      Invitation,
      'id' | 'orgId' | 'email' | 'codeNumber' | 'codeShown' | 'invitedBy' | 'expiresAt'
    >,
    note: (code: string) => void,
  ): Promise<void> {
    if (invitation.codeShown === 1) note(this.mails.codeOf(invitation));
    else await this.mails.enqueue(transaction, invitation);
  }

  private answer(
    invitation: Omit<Parameters<typeof listedInvitation>[0], 'inviterEmail'>,
    { actorEmail }: InvitingFacts,
  ): InvitationResult {
    return { invitation: listedInvitation({ ...invitation, inviterEmail: actorEmail }) };
  }

  /** The code is in this one answer, and in none that is kept to be repeated. */
  private async withCode(
    run: (note: (code: string) => void) => Promise<InvitationResult>,
  ): Promise<InvitationResult> {
    let code: string | undefined;
    const answer = await run((made) => {
      code = made;
    });
    return code === undefined ? answer : { invitation: { ...answer.invitation, code } };
  }
}

function aNewOne(now: number, invitedBy: string, showCode: boolean) {
  return {
    invitedBy,
    createdAt: now,
    expiresAt: now + INVITATION_TTL_MS,
    codeShown: showCode ? 1 : 0,
  } as const;
}
