import { ownEvent } from '../../record/event-views.js';
import { type HeldSession, UserSessionsRepository } from '../../auth/sessions/user-sessions.repository.js';
import { EventsRepository } from '../../record/events.repository.js';
import { MAIL_STATES } from '../../mail/mail.entity.js';
import { MailsRepository } from '../../mail/mails.repository.js';
import { InvitationListRepository, statusAt } from '../../orgs/invitations/invitation-list.repository.js';
import { OwnershipRepository } from '../../orgs/ownership.repository.js';
import type { UserProfile } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command.js';
import { type Services, withServices } from '../services.js';
import { timeOrNull, timeText } from '../times.js';
import { userJson } from '../users/user-text.js';
import { findUser } from '../users/find-user.js';
import { write } from '../write.js';
import { type DocumentParts, writeDocument } from './write-document.js';

const PAGE = 500;
/** more than the limits of a week allow */
const MAX_MAILS = 1000;

/** Writes page by page, because a record can be long. */
export function exportUser({ parameters, options }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const parts: DocumentParts = {
      exportedAt: timeText(Date.now()),
      account: userJson(user),
      organizations: organizationsOf(services, user.id),
      sessions: sessionsOf(services, user.id),
      events: eventsOf(services, user.id),
      mails: mailsTo(services, user.email),
      invitations: invitationsTo(services, user),
    };
    await writeDocument(parts, options['json'] === true ? '' : '\n', write);
    return { lines: [], json: [] };
  });
}

async function* organizationsOf(services: Services, userId: string): AsyncGenerator<object> {
  for (const { joinedAt, deletedAt, ...org } of await services.get(OwnershipRepository).findOrgsOf(userId)) {
    const deletion = deletedAt === null ? {} : { deletedAt: timeText(deletedAt) };
    yield { ...org, joinedAt: timeText(joinedAt), ...deletion };
  }
}

async function* sessionsOf(services: Services, userId: string): AsyncGenerator<object> {
  for (let after = ''; ;) {
    const page = await services.get(UserSessionsRepository).findPageOf(userId, after, PAGE);
    yield* page.map(sessionJson);
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

/** Yields the mails that still exist: they are deleted a week after their end. */
async function* mailsTo(services: Services, recipient: string): AsyncGenerator<object> {
  const mails = await services.get(MailsRepository).findLatest({ states: MAIL_STATES, recipient }, MAX_MAILS);
  for (const { id, kind, state, createdAt, endedAt } of mails) {
    yield { id, kind, state, createdAt: timeText(createdAt), endedAt: timeOrNull(endedAt) };
  }
}

/** Yields nothing unless the e-mail is verified: registering a foreign address must not reveal its invitations. */
async function* invitationsTo(services: Services, user: UserProfile): AsyncGenerator<object> {
  if (user.emailVerifiedAt === null) return;
  const now = Date.now();
  for (const invitation of await services.get(InvitationListRepository).findForExport(user.email)) {
    const { id, role, createdAt, expiresAt, orgId, orgName } = invitation;
    const org = { id: orgId, name: orgName };
    const status = statusAt(invitation, now);
    yield { id, org, role, status, createdAt: timeText(createdAt), expiresAt: timeText(expiresAt) };
  }
}

async function* eventsOf(services: Services, userId: string): AsyncGenerator<object> {
  for (let before: string | undefined; ;) {
    const page = await services.get(EventsRepository).findOfUser(userId, PAGE, before);
    yield* page.map(ownEvent);
    if (page.length < PAGE) return;
    before = page.at(-1)!.id;
  }
}

function sessionJson(session: HeldSession): object {
  const { id, parentId, authTime, createdAt, rotatedAt, expiresAt, revokedAt, ip, userAgent, deviceName } =
    session;
  return {
    id,
    via: parentId === null ? 'password' : 'code',
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
