import { setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../events/event.entity.js';
import { EVENT_TYPES } from '../../events/event-types.js';
import { EventsRepository } from '../../events/events.repository.js';
import { wholeEvent } from '../../events/events.service.js';
import { START } from '../../events/feed.repository.js';
import { FeedService } from '../../events/feed.service.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { timeText } from '../../identifiers/text.js';
import { normalizedEmail } from '../../users/email-address.js';
import { UsersRepository } from '../../users/users.repository.js';
import { type Context, findOrg, findUser, withContext } from '../command/context.js';
import type { Invocation, Report } from '../command/definition.js';

const PAUSE_MS = 500;
const PAGE = 1000;

export async function showEvents(invocation: Invocation): Promise<Report> {
  const filter = {
    type: invocation.choice('type', EVENT_TYPES),
    since: invocation.time('since'),
    until: invocation.time('until'),
  };
  const atMost = invocation.limit();
  const user = invocation.text('user');
  const org = invocation.text('org');
  const actor = invocation.text('actor')?.trim();
  return withContext(async (context) => {
    const users = context.get(UsersRepository);
    const subjects = {
      ...(user !== undefined && { userId: await userIdOf(context, user) }),
      ...(org !== undefined && { orgId: (await findOrg(context, org)).id }),
      ...(actor !== undefined && { actorIds: await users.findActorIds(normalizedEmail(actor) ?? actor) }),
    };
    const events = await context.get(EventsRepository).findMatching({ ...filter, ...subjects }, atMost);
    if (invocation.asJson) return { lines: [], json: events.map(wholeEvent) };
    const lines = await linesOf(context, events);
    return { lines: lines.length === 0 ? ['none'] : lines, json: [] };
  });
}

/** Accepts the id of a deleted user, whom only the audit log knows. */
async function userIdOf(context: Context, text: string): Promise<string> {
  const isRecorded = isEntityId(text) && (await context.get(EventsRepository).findOfUser(text, 1)).length > 0;
  return isRecorded ? text : (await findUser(context, text)).id;
}

export async function followEvents(invocation: Invocation): Promise<Report> {
  const read = (text: string): string | undefined => (text === START || isEntityId(text) ? text : undefined);
  const after = invocation.read('after', read, 'the id of an event, or start');
  return withContext(async (context) => {
    const { signal } = new AbortController();
    for (let next = after ?? (await context.get(FeedService).end(signal)); ;) {
      const page = await context
        .get(FeedService)
        .read({ after: next, limit: PAGE, isWanted: () => true, signal });
      const lines = invocation.asJson ? [] : await linesOf(context, page.events);
      for (const [n, event] of page.events.entries())
        await invocation.print(lines[n] ?? '', wholeEvent(event));
      next = page.next;
      if (page.events.length < PAGE) await sleep(PAUSE_MS);
    }
  });
}

/** Shows present emails. The JSON has ids only, because it is kept. */
async function linesOf(context: Context, events: readonly Event[]): Promise<string[]> {
  const ids = events.flatMap(({ userId, actorId }) => [userId, actorId]);
  const emails = await context.get(UsersRepository).findEmailsOf(ids);
  const named = (id: string | null, emailOfThen: string | null = null): string | null => {
    const email = (id !== null && emails.get(id)) || emailOfThen;
    return id && email ? `${id} (${email})` : id;
  };
  return events.map((event) => eventLine(event, named));
}

function eventLine(
  { type, at, actorType, actorId, actorEmail, orgId, userId, data, reason }: Event,
  named: (id: string | null, emailOfThen?: string | null) => string | null,
): string {
  return [
    timeText(at),
    type,
    userId && `user ${named(userId)}`,
    orgId && `org ${orgId}`,
    ['by', actorType, named(actorId, actorEmail)].filter((part) => part !== null).join(' '),
    data === '{}' ? null : data,
    reason && JSON.stringify(reason),
  ]
    .filter((part) => part !== null)
    .join('  ');
}
