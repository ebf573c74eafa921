import { Injectable } from '@nestjs/common';
import { RecoveryCodesRepository } from '../auth/second-factor/recovery-codes.repository.js';
import { type HeldSession, UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import { ownEvent } from '../events/events.service.js';
import type { Event } from '../events/event.entity.js';
import { EventsRepository } from '../events/events.repository.js';
import { MAIL_STATES } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationLists, statusAt } from '../orgs/state/invitations.lists.js';
import { Memberships } from '../orgs/state/members.memberships.js';
import { userJson } from '../users/user-json.js';
import { timeOrNull, timeText } from '../identifiers/text.js';
import type { UserProfile } from '../users/users.repository.js';

const PAGE = 500;
/** more than the limits of a week allow */
const MAX_MAILS = 1000;

/** The members of a JSON object, in order. Long lists are async iterables, so that memory never holds all of one. */
type DocumentParts = Record<string, string | object | AsyncIterable<object>>;

/** @param newLine separates members and elements; empty if the document has to be one line */
export async function* documentText(parts: DocumentParts, newLine: string): AsyncGenerator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(parts)) {
    yield `${separator}${newLine}${JSON.stringify(name)}:`;
    if (isList(value)) yield* listText(value, newLine);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield `${newLine}}\n`;
}

async function* listText(list: AsyncIterable<object>, newLine: string): AsyncGenerator<string> {
  let separator = '[';
  for await (const element of list) {
    yield `${separator}${newLine}${JSON.stringify(element)}`;
    separator = ',';
  }
  yield separator === '[' ? '[]' : `${newLine}]`;
}

function isList(value: DocumentParts[string]): value is AsyncIterable<object> {
  return typeof value === 'object' && Symbol.asyncIterator in value;
}

/** Joins short texts, each of which would be a packet of its own. */
export async function* inPieces(texts: AsyncIterable<string>, length: number): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < length) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/**
 * All data about one user, to answer an access request: no secret, and nothing about others. Codes by email and
 * idempotency keys are left out: they live for a day at most, and repeat other rows.
 */
@Injectable()
export class UserExport {
  constructor(
    private readonly memberships: Memberships,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly sessions: UserSessionsRepository,
    private readonly events: EventsRepository,
    private readonly mails: MailsRepository,
    private readonly invitations: InvitationLists,
  ) {}

  documentOf(user: UserProfile): DocumentParts {
    return {
      exportedAt: new Date().toISOString(),
      account: userJson(user),
      organizations: this.orgsOf(user),
      secondFactor: this.secondFactorOf(user),
      sessions: this.sessionsOf(user),
      events: this.eventsOf(user),
      mails: this.mailsOf(user),
      invitations: this.invitationsOf(user),
    };
  }

  private async *orgsOf({ id }: UserProfile): AsyncGenerator<object> {
    for (const { joinedAt, deletedAt, ...org } of await this.memberships.findAllOrgs(id)) {
      const deletion = deletedAt === null ? {} : { deletedAt: timeText(deletedAt) };
      yield { ...org, joinedAt: timeText(joinedAt), ...deletion };
    }
  }

  private async *secondFactorOf({ id, secondFactorAt }: UserProfile): AsyncGenerator<object> {
    if (secondFactorAt === null) return;
    yield {
      enabledAt: timeText(secondFactorAt),
      recoveryCodesLeft: await this.recoveryCodes.countUnused(id),
    };
  }

  private async *sessionsOf({ id }: UserProfile): AsyncGenerator<object> {
    const ends = (await this.events.findEndsOfAll(id)).map(endOfAll);
    for (let after = ''; ;) {
      const page = await this.sessions.findPageOf(id, after, PAGE);
      yield* page.map((session) => sessionJson(session, endedAt(session, ends)));
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
    }
  }

  private async *eventsOf({ id }: UserProfile): AsyncGenerator<object> {
    for (let before: string | undefined; ;) {
      const page = await this.events.findOfUser(id, PAGE, before);
      yield* page.map(ownEvent);
      if (page.length < PAGE) return;
      before = page.at(-1)!.id;
    }
  }

  /** Only those since the account exists, and none before the email is verified: the others may be for another person. */
  private async *mailsOf({ email, createdAt: since, emailVerifiedAt }: UserProfile): AsyncGenerator<object> {
    if (emailVerifiedAt === null) return;
    for (const mail of await this.mails.findLatest({ states: MAIL_STATES, recipient: email }, MAX_MAILS)) {
      const { id, kind, state, createdAt, endedAt: ended } = mail;
      if (createdAt < since) continue;
      yield { id, kind, state, createdAt: timeText(createdAt), endedAt: timeOrNull(ended) };
    }
  }

  private async *invitationsOf({ email, emailVerifiedAt }: UserProfile): AsyncGenerator<object> {
    if (emailVerifiedAt === null) return;
    const now = Date.now();
    for (const invitation of await this.invitations.findForExport(email)) {
      const { id, role, createdAt, expiresAt, orgId, orgName } = invitation;
      yield {
        id,
        org: { id: orgId, name: orgName },
        role,
        status: statusAt(invitation, now),
        createdAt: timeText(createdAt),
        expiresAt: timeText(expiresAt),
      };
    }
  }
}

/** When all sessions of an epoch below this one ended (epoch milliseconds). */
interface EndOfAll {
  epoch: number;
  at: number;
}

function endOfAll({ at, data }: Event): EndOfAll {
  const { epoch } = JSON.parse(data) as { epoch: number };
  return { epoch, at };
}

/** If the event has been deleted by now, the last use of the session that is known. */
function endedAt(session: HeldSession, ends: readonly EndOfAll[]): number | null {
  const { revokedAt, isOfEndedEpoch, authEpoch, rotatedAt, createdAt } = session;
  if (revokedAt !== null || !isOfEndedEpoch) return revokedAt;
  return ends.find(({ epoch }) => epoch > authEpoch)?.at ?? rotatedAt ?? createdAt;
}

function sessionJson(session: HeldSession, revokedAt: number | null): object {
  const { id, loginId, authTime, createdAt, rotatedAt, expiresAt, ip, userAgent, deviceName } = session;
  return {
    id,
    via: loginId === null ? 'password' : 'code',
    loggedInAt: timeText(authTime),
    createdAt: timeText(createdAt),
    refreshedAt: timeOrNull(rotatedAt),
    expiresAt: timeText(expiresAt),
    revokedAt: timeOrNull(revokedAt),
    ip,
    userAgent,
    deviceName,
  };
}
