import { Injectable } from '@nestjs/common';
import { ApiKeysRepository } from '../api-keys/api-keys.repository.js';
import { IdentitiesRepository } from '../auth/providers/identities.repository.js';
import { identityView } from '../auth/providers/providers.responses.js';
import { RecoveryCodesRepository } from '../auth/second-factor/second-factors.repository.js';
import { KnownPlacesRepository } from '../auth/sessions/known-places.repository.js';
import { LoginTracesRepository } from '../auth/sessions/login-traces.repository.js';
import { type HeldSession, UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import { ownEvent } from '../events/events.service.js';
import { EventsRepository } from '../events/events.repository.js';
import { MAIL_STATES } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationListsRepository, statusAt } from '../orgs/state/invitations.lists.js';
import { MembershipsRepository } from '../orgs/state/members.memberships.js';
import { profileOf } from '../users/profile.js';
import { loginTraceView, type UserView, userJson } from '../users/user-view.js';
import { timeOrNull, timeText } from '../identifiers/text.js';

const PAGE = 500;
const MAX_MAILS = 1000;

type DocumentParts = Record<string, string | object | AsyncIterable<object>>;

/** @param newLine separates members and elements; empty if the document has to be one line */
export async function* documentText(parts: DocumentParts, newLine: string): AsyncGenerator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(parts)) {
    yield `${separator}${newLine}${JSON.stringify(name)}:`;
    if (typeof value === 'object' && Symbol.asyncIterator in value) {
      let start = '[';
      for await (const element of value) {
        yield `${start}${newLine}${JSON.stringify(element)}`;
        start = ',';
      }
      yield start === '[' ? '[]' : `${newLine}]`;
    } else {
      yield JSON.stringify(value);
    }
    separator = ',';
  }
  yield `${newLine}}\n`;
}

const MIN_PIECE_LENGTH = 32_768;

/** Joins short texts, each of which would be a packet of its own. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < MIN_PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Exports all data about one user but no secret; emailed codes and idempotency keys only repeat other rows. */
@Injectable()
export class UserExport {
  constructor(
    private readonly memberships: MembershipsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly identities: IdentitiesRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly sessions: UserSessionsRepository,
    private readonly places: KnownPlacesRepository,
    private readonly traces: LoginTracesRepository,
    private readonly events: EventsRepository,
    private readonly mails: MailsRepository,
    private readonly invitations: InvitationListsRepository,
  ) {}

  documentOf(user: UserView): DocumentParts {
    return {
      exportedAt: new Date().toISOString(),
      account: { ...userJson(user), ...profileOf(user) },
      organizations: this.orgsOf(user),
      secondFactor: this.secondFactorOf(user),
      identities: this.identitiesOf(user),
      apiKeys: this.apiKeysOf(user),
      sessions: this.sessionsOf(user),
      knownPlaces: this.placesOf(user),
      loginTrace: this.loginTraceOf(user),
      events: this.eventsOf(user),
      mails: this.mailsOf(user),
      invitations: this.invitationsOf(user),
    };
  }

  private async *orgsOf({ id }: UserView): AsyncGenerator<object> {
    for (const { joinedAt, deletedAt, ...org } of await this.memberships.findOrgsEvenDeleted(id)) {
      const deletion = deletedAt === null ? {} : { deletedAt: timeText(deletedAt) };
      yield { ...org, joinedAt: timeText(joinedAt), ...deletion };
    }
  }

  private async *secondFactorOf({ id, secondFactorAt }: UserView): AsyncGenerator<object> {
    if (secondFactorAt === null) return;
    yield {
      enabledAt: timeText(secondFactorAt),
      recoveryCodesLeft: await this.recoveryCodes.countUnused(id),
    };
  }

  private async *identitiesOf({ id }: UserView): AsyncGenerator<object> {
    yield* (await this.identities.listOfUser(id)).map(identityView);
  }

  private async *apiKeysOf({ id: userId }: UserView): AsyncGenerator<object> {
    for await (const key of pages((before) => this.apiKeys.findPage({ userId }, PAGE, before))) {
      const { id, name, audience, role, orgId, createdAt, expiresAt, lastUsedAt } = key;
      const times = { createdAt: timeText(createdAt), expiresAt: timeText(expiresAt) };
      yield { id, name, audience, role, orgId, ...times, lastUsedAt: timeOrNull(lastUsedAt) };
    }
  }

  private async *sessionsOf({ id }: UserView): AsyncGenerator<object> {
    const ends = (await this.events.findEndsOfAll(id)).map(({ at, data }) => {
      const { epoch } = JSON.parse(data) as { epoch: number };
      return { epoch, at };
    });
    const sessions = pages((after = '') => this.sessions.findPageOf(id, after, PAGE));
    for await (const session of sessions) yield sessionJson(session, ends);
  }

  private async *placesOf({ id }: UserView): AsyncGenerator<object> {
    for (const { network, agent, firstSeenAt, lastSeenAt } of await this.places.findAllOf(id)) {
      yield { network, agent, firstSeenAt: timeText(firstSeenAt), lastSeenAt: timeText(lastSeenAt) };
    }
  }

  private async *loginTraceOf({ id }: UserView): AsyncGenerator<object> {
    const trace = await this.traces.find(id);
    if (trace) yield loginTraceView(trace);
  }

  private async *eventsOf({ id }: UserView): AsyncGenerator<object> {
    const events = pages((before) => this.events.findOfUser(id, PAGE, before));
    for await (const event of events) yield ownEvent(event);
  }

  /** Emails before the account or its verification may have been for another person. */
  private async *mailsOf({ email, createdAt: since, emailVerifiedAt }: UserView): AsyncGenerator<object> {
    if (emailVerifiedAt === null) return;
    for (const mail of await this.mails.findLatest({ states: MAIL_STATES, recipient: email }, MAX_MAILS)) {
      const { id, kind, state, createdAt, endedAt: ended } = mail;
      if (createdAt < since) continue;
      yield { id, kind, state, createdAt: timeText(createdAt), endedAt: timeOrNull(ended) };
    }
  }

  private async *invitationsOf({ email, emailVerifiedAt }: UserView): AsyncGenerator<object> {
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

async function* pages<Row extends { id: string }>(
  findAfter: (id: string | undefined) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for (let last: string | undefined; ;) {
    const page = await findAfter(last);
    yield* page;
    if (page.length < PAGE) return;
    last = page.at(-1)!.id;
  }
}

function sessionJson(session: HeldSession, ends: readonly { epoch: number; at: number }[]): object {
  const { id, loginId, authTime, createdAt, rotatedAt, expiresAt, ip, userAgent, deviceName } = session;
  // If the event has been deleted, use the time of the last known refresh.
  const endOfEpoch = (): number =>
    ends.find(({ epoch }) => epoch > session.authEpoch)?.at ?? rotatedAt ?? createdAt;
  return {
    id,
    via: loginId === null ? 'password' : 'code',
    loggedInAt: timeText(authTime),
    createdAt: timeText(createdAt),
    refreshedAt: timeOrNull(rotatedAt),
    expiresAt: timeText(expiresAt),
    revokedAt: timeOrNull(session.revokedAt ?? (session.isOfEndedEpoch ? endOfEpoch() : null)),
    ip,
    userAgent,
    deviceName,
  };
}
