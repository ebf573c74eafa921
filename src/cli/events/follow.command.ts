import { setTimeout as sleep } from 'node:timers/promises';
import { START } from '../../events/feed.repository.js';
import { FeedService } from '../../events/feed.service.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { wholeEvent } from '../../events/event-views.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { withServices } from '../services.js';
import { eventText } from './event-text.js';

const PAUSE_MS = 500;
const PAGE = 1000;

/** Runs until it is interrupted. */
export function followEvents({ options, print }: Invocation): Promise<Report> {
  const { after } = options as Record<string, string | undefined>;
  if (after !== undefined && after !== START && !isEntityId(after)) {
    throw new CannotRunError('--after: expected the id of an event, or start');
  }
  return withServices(async (services) => {
    const feed = services.get(FeedService);
    const { signal } = new AbortController();
    for (let next = after ?? (await feed.end(signal)); ;) {
      const { page } = await feed.read({ after: next, limit: PAGE, isWanted: () => true, signal });
      for (const event of page.events) await print(eventText(event), wholeEvent(event));
      next = page.next;
      if (page.events.length < PAGE) await sleep(PAUSE_MS);
    }
  });
}
