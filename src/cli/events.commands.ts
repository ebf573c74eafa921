import { setTimeout as sleep } from 'node:timers/promises';
import { FeedService } from '../events/feed.service.js';
import { START } from '../events/feed.repository.js';
import type { Event } from '../events/event.entity.js';
import { EVENT_TYPES } from '../events/event-types.js';
import { wholeEvent } from '../events/events.service.js';
import { EventsRepository } from '../events/events.repository.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { timeText } from '../operators/views.js';
import type { Invocation, Report } from './command/definition.js';
import { findOrg, findUser } from './command/lookups.js';
import { CannotRunError, choiceOption, limitOption, textOption, timeOption } from './command/options.js';
import { type Services, withServices } from './command/services.js';

const PAUSE_MS = 500;
const PAGE = 1000;

export async function showEvents(invocation: Invocation): Promise<Report> {
  const filter = {
    type: choiceOption(invocation, 'type', EVENT_TYPES),
    since: timeOption(invocation, 'since'),
    until: timeOption(invocation, 'until'),
  };
  const atMost = limitOption(invocation);
  const user = textOption(invocation, 'user');
  const org = textOption(invocation, 'org');
  return withServices(async (services) => {
    const subjects = {
      ...(user !== undefined && { userId: await userIdOf(services, user) }),
      ...(org !== undefined && { orgId: (await findOrg(services, org)).id }),
    };
    const events = await services.get(EventsRepository).findMatching({ ...filter, ...subjects }, atMost);
    return { lines: events.length === 0 ? ['none'] : events.map(eventLine), json: events.map(wholeEvent) };
  });
}

/** Accepts the id of a deleted user, whom only the audit log still knows. */
async function userIdOf(services: Services, text: string): Promise<string> {
  const isRecorded =
    isEntityId(text) && (await services.get(EventsRepository).findOfUser(text, 1)).length > 0;
  return isRecorded ? text : (await findUser(services, text)).id;
}

/** Runs until it is interrupted. */
export async function followEvents(invocation: Invocation): Promise<Report> {
  const after = textOption(invocation, 'after');
  if (after !== undefined && after !== START && !isEntityId(after)) {
    throw new CannotRunError('--after: expected the id of an event, or start');
  }
  return withServices(async (services) => {
    const feed = services.get(FeedService);
    const { signal } = new AbortController();
    for (let next = after ?? (await feed.end(signal)); ;) {
      const { page } = await feed.read({ after: next, limit: PAGE, isWanted: () => true, signal });
      for (const event of page.events) await invocation.print(eventLine(event), wholeEvent(event));
      next = page.next;
      if (page.events.length < PAGE) await sleep(PAUSE_MS);
    }
  });
}

function eventLine(event: Event): string {
  const { type, at, actorType, actorId, orgId, userId, data, reason } = event;
  return [
    timeText(at),
    type,
    userId && `user ${userId}`,
    orgId && `org ${orgId}`,
    `by ${actorId === null ? actorType : `${actorType} ${actorId}`}`,
    data === '{}' ? null : data,
    reason && JSON.stringify(reason),
  ]
    .filter((part) => part !== null)
    .join('  ');
}
