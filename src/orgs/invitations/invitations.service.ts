import { Injectable } from '@nestjs/common';
import { EmailCodes } from '../../auth/email-codes/email-codes.js';
import type { Actor, UserPrincipal } from '../../access/principal.js';
import { type Transaction, Unchanged } from '../../database/transactions/transactions.js';
import type { OkResponse } from '../../http/fields.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { Mails } from '../../mail/mails.js';
import type { Included } from '../../http/included.js';
import type { Versioned } from '../../requests/entity-tags.js';
import type { Write } from '../../requests/write.js';
import { MembersReader } from '../members/members-reader.js';
import { invitationData, OrgChanges, type OrgOutcome, revocations } from '../state/org-changes.js';
import type {
  CreateInvitationRequest,
  ListInvitationsQuery,
  ListOwnInvitationsQuery,
  ResendInvitationRequest,
} from './invitations.requests.js';
import type {
  InvitationsResponse,
  InvitationResponse,
  InvitationSummaryDto,
  ReceivedInvitationsResponse,
  ReceivedInvitationDto,
} from './invitations.responses.js';
import { type Invitation, INVITATION_TTL_MS } from '../state/org.entity.js';
import { isOpen, requireInviting, requireRenewing, requireRevoking } from '../state/policies.js';
import {
  answeringOf,
  InvitationsRepository,
  type InvitingFacts,
  invitingOf,
  renewingOf,
  type SentInvitation,
} from '../state/invitations.repository.js';
import {
  InvitationListsRepository,
  type InvitationRange,
  type ListedInvitation,
  type ReceivedInvitation,
} from '../state/invitations.lists.js';
import { cutPage, encodeCursor, limitOf, positionOf } from '../../http/pages.js';
import { timeText } from '../../identifiers/text.js';
import { Problem } from '../../problems/problem.js';

@Injectable()
export class InvitationsService {
  constructor(
    private readonly changes: OrgChanges,
    private readonly invitations: InvitationsRepository,
    private readonly lists: InvitationListsRepository,
    private readonly members: MembersReader,
    private readonly codes: EmailCodes,
    private readonly mails: Mails,
  ) {}

  async create(
    write: Write,
    orgId: string,
    { email, role, showCode = false }: CreateInvitationRequest,
  ): Promise<Versioned<InvitationResponse>> {
    if (!showCode) this.mails.requireServer();
    const actorId = write.actor.id;
    return this.changes.inOrg(write, orgId, invitingOf(email), async (tx, org, facts) => {
      const now = Date.now();
      requireInviting(facts, now);

      await this.makeRoom(tx, orgId, facts, now);
      const invitation: SentInvitation = {
        id: newEntityId(),
        orgId,
        email,
        role,
        status: 'pending',
        codeNumber: 1,
        createdAt: now,
        ...validity(now, actorId, showCode),
      };
      await this.invitations.insert(tx, invitation);
      await org.record({ type: 'invitation.created', data: invitationData(invitation) });
      return this.send(tx, invitation, facts);
    });
  }

  async resend(
    write: Write,
    orgId: string,
    id: string,
    { showCode = false }: ResendInvitationRequest,
  ): Promise<Versioned<InvitationResponse>> {
    if (!showCode) this.mails.requireServer();
    const actorId = write.actor.id;
    return this.changes.inOrg(write, orgId, renewingOf(id), async (tx, org, facts) => {
      const now = Date.now();
      requireRenewing(facts, now);

      if (facts.status !== 'pending') await this.makeRoom(tx, orgId, facts, now);
      const renewal = validity(now, actorId, showCode);
      await this.invitations.renew(tx, id, renewal);
      await org.record({ type: 'invitation.resent', data: invitationData(facts) });
      const codeNumber = facts.codeNumber + 1;
      return this.send(tx, { ...facts, ...renewal, codeNumber, status: 'pending' }, facts);
    });
  }

  revoke(write: Write, orgId: string, id: string): Promise<Versioned<OkResponse>> {
    return this.changes.inOrg(write, orgId, renewingOf(id), async (tx, org, facts) => {
      requireRevoking(facts);

      await this.invitations.revoke(tx, id);
      await org.record(...revocations([facts], 'revoked'));
      return { ok: true };
    });
  }

  async listOfOrg(
    orgId: string,
    caller: UserPrincipal,
    query: ListInvitationsQuery,
  ): Promise<InvitationsResponse> {
    const page = await pageOf(query, async (range) => {
      const found = await this.lists.findOfOrg(orgId, query.status, range);
      return found.map(listedInvitation);
    });
    await this.members.requireReader(orgId, caller, 'admin');
    return page;
  }

  listOfUser(
    userId: string,
    query: ListOwnInvitationsQuery,
    included: Included,
  ): Promise<ReceivedInvitationsResponse> {
    return pageOf(query, async (page) => {
      const found = await this.lists.findReceived(userId, page);
      return found.map((one) => receivedInvitation(one, included.has('profile')));
    });
  }

  private async makeRoom(tx: Transaction, orgId: string, facts: InvitingFacts, now: number): Promise<void> {
    if (facts.hasRoom) {
      if (facts.pendingId !== null) await this.invitations.end(tx, facts.pendingId, 'expired');
    } else if ((await this.invitations.endExpired(tx, orgId, now)) === 0) {
      throw new Problem('too_many_invitations');
    }
  }

  /** Emails or shows the code. The stored response of an idempotency key has no code. */
  private async send(
    tx: Transaction,
    invitation: SentInvitation,
    { actorEmail: inviterEmail }: InvitingFacts,
  ): Promise<InvitationResponse> {
    const { id, orgId, email: recipient, codeNumber, invitedBy: senderId, expiresAt } = invitation;
    const listed = listedInvitation({ ...invitation, inviterEmail });
    if (invitation.codeShown) {
      const code = this.codes.textOf({ id, purpose: 'invitation', codeNumber });
      return { invitation: { ...listed, code } };
    }
    await this.mails.enqueueWithinLimits(tx, {
      kind: 'invitation',
      recipient,
      senderId,
      orgId,
      code: { id, number: codeNumber },
      expiresAt,
    });
    return { invitation: listed };
  }
}

function validity(now: number, invitedBy: string, showCode: boolean) {
  return { invitedBy, expiresAt: now + INVITATION_TTL_MS, codeShown: showCode ? 1 : 0 } as const;
}

async function pageOf<Item extends { id: string }>(
  query: ListOwnInvitationsQuery,
  read: (page: InvitationRange) => Promise<Item[]>,
): Promise<{ invitations: Item[]; nextCursor?: string }> {
  const limit = limitOf(query);
  const found = await read({ now: Date.now(), limit: limit + 1, beforeId: positionOf(query)?.id });
  const { page, next } = cutPage(found, limit, ({ id }) => encodeCursor({ order: 0, id }));
  return { invitations: page, ...next };
}

function listedInvitation(invitation: ListedInvitation): InvitationSummaryDto {
  const { id, email, role, status, createdAt, expiresAt, invitedBy, inviterEmail } = invitation;
  return {
    id,
    email,
    role,
    status,
    createdAt: timeText(createdAt),
    expiresAt: timeText(expiresAt),
    invitedBy: { userId: invitedBy, email: inviterEmail },
  };
}

function receivedInvitation(invitation: ReceivedInvitation, withInviter: boolean): ReceivedInvitationDto {
  const { email: _, ...rest } = listedInvitation(invitation);
  const { orgId, orgName, inviterName: name, inviterEmail: email } = invitation;
  return { ...rest, org: { id: orgId, name: orgName }, ...(withInviter && { inviter: { name, email } }) };
}

/** Commands use this class without signing keys. */
@Injectable()
export class OperatedInvitations {
  constructor(
    private readonly changes: OrgChanges,
    private readonly invitations: InvitationsRepository,
  ) {}

  /** The new code proves no email. @throws invitation_ended */
  async renew(
    { id, orgId }: Pick<Invitation, 'id' | 'orgId'>,
    actor: Actor,
  ): Promise<{ codeNumber: number; expiresAt: number }> {
    const { answer } = await this.changes.inAnyOrg(
      { actor },
      orgId,
      answeringOf(id, ''),
      async (tx, org, facts) => {
        const now = Date.now();
        if (!org || !facts?.id || !isOpen(facts, now)) throw new Problem('invitation_ended');
        const expiresAt = now + INVITATION_TTL_MS;
        const { invitedBy, codeNumber } = facts;
        await this.invitations.renew(tx, id, { codeShown: 1, invitedBy, expiresAt });
        await org.record({ type: 'invitation.resent', data: invitationData(facts) });
        return { codeNumber: codeNumber + 1, expiresAt };
      },
    );
    return answer;
  }

  /** @throws invitation_not_found */
  revoke({ id, orgId }: Pick<Invitation, 'id' | 'orgId'>, actor: Actor): Promise<OrgOutcome<OkResponse>> {
    return this.changes.inAnyOrg({ actor }, orgId, answeringOf(id, ''), async (tx, org, facts) => {
      if (!org || !facts?.id) throw new Problem('invitation_not_found');
      if (facts.status !== 'pending') return new Unchanged({ ok: true });
      await this.invitations.revoke(tx, id);
      await org.record(...revocations([facts], 'revoked'));
      return { ok: true };
    });
  }
}
