import { EventsRepository } from '../../events/events.repository.js';
import { wholeEvent } from '../../events/event-views.js';
import { EVENT_TYPES, type EventType } from '../../events/event-types.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { findOrg } from '../orgs/find-org.js';
import { parseLimit } from '../limit.js';
import { eventText } from './event-text.js';
import { type Services, withServices } from '../services.js';
import { parseTime } from '../times.js';
import { findUser } from '../users/find-user.js';

export function showEvents({ options }: Invocation): Promise<Report> {
  const { type, since, until, limit } = options as Record<string, string | undefined>;
  const filter = {
    type: type === undefined ? undefined : eventType(type),
    since: since === undefined ? undefined : parseTime('--since', since),
    until: until === undefined ? undefined : parseTime('--until', until),
  };
  const atMost = parseLimit(limit);
  return withServices(async (services) => {
    const named = await subjects(services, options as Record<string, string | undefined>);
    const events = await services.get(EventsRepository).findMatching({ ...filter, ...named }, atMost);
    return { lines: events.length === 0 ? ['none'] : events.map(eventText), json: events.map(wholeEvent) };
  });
}

function eventType(text: string): EventType {
  const type = EVENT_TYPES.find((known) => known === text);
  if (type === undefined) throw new CannotRunError(`--type: expected one of ${EVENT_TYPES.join(', ')}`);
  return type;
}

async function subjects(
  services: Services,
  { user, org }: Record<string, string | undefined>,
): Promise<{ userId?: string; orgId?: string }> {
  return {
    ...(user !== undefined && { userId: await userIdOf(services, user) }),
    ...(org !== undefined && { orgId: (await findOrg(services, org)).id }),
  };
}

/** Accepts the id of a deleted user, whom only the record still knows. */
async function userIdOf(services: Services, text: string): Promise<string> {
  const isRecorded =
    isEntityId(text) && (await services.get(EventsRepository).findOfUser(text, 1)).length > 0;
  return isRecorded ? text : (await findUser(services, text)).id;
}
