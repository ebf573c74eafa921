import { setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../events/event.entity.js';
import { EVENT_TYPES } from '../events/event-types.js';
import type { START as FEED_START } from '../events/feed.repository.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { timeText } from '../identifiers/text.js';
import { canonicalEmail } from '../users/email-address.js';
import type { Services } from './command/cli.module.js';
import { type CommandDefinition, type Invocation, type Report } from './command/definition.js';
import { findOrg, findUser, withServices } from './command/services.js';

export const EVENTS: CommandDefinition = {
  usage: 'events',
  summary: 'the audit log: who did what, and when, newest first',
  details: 'A time is a day (in UTC), a time with a time zone, or an age such as 30m, 24h or 7d.',
  options: [
    ['--user <USER>', 'only events about this user, by email or id'],
    ['--actor <ACTOR>', 'only events by this user or operator, by email, id or the name of --as'],
    ['--org <ORG>', 'only events of this organization'],
    ['--type <TYPE>', 'only events of this type, such as member.removed'],
    ['--since <TIME>', 'only events from this time on'],
    ['--until <TIME>', 'only events before this time'],
    ['--limit <NUMBER>', 'at most this many, 1 to 10000 (default: 100)'],
  ],
  examples: [
    'events --user ada@example.com --type member.removed',
    'events --actor support@example.com --since 30d',
    'events --org 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --since 7d --json',
    'events --since 2026-11-21T22:00Z --until 2026-11-22T06:00Z',
  ],
  run: showEvents,
  commands: [
    {
      usage: 'follow',
      summary: 'print new events in the order of the event feed, until you interrupt the command',
      options: [
        [
          '--after <CURSOR>',
          'print the events after this cursor: the id of an event, or start (default: only new events)',
        ],
      ],
      examples: ['events follow', 'events follow --after start --json'],
      run: followEvents,
    },
  ],
};

const START: typeof FEED_START = 'start';
const PAUSE_MS = 500;
const PAGE = 1000;

async function showEvents(invocation: Invocation): Promise<Report> {
  const filter = {
    type: invocation.choice('type', EVENT_TYPES),
    since: invocation.time('since'),
    until: invocation.time('until'),
  };
  const atMost = invocation.limit();
  const user = invocation.text('user');
  const org = invocation.text('org');
  const actor = invocation.text('actor')?.trim();
  return withServices(async (services) => {
    const subjects = {
      ...(user !== undefined && { userId: await userIdOf(services, user) }),
      ...(org !== undefined && { orgId: (await findOrg(services, org)).id }),
      actorId: actor && (canonicalEmail(actor) ?? actor),
    };
    const { wholeEvent } = await import('../events/events.service.js');
    const events = await services.events.findMatching({ ...filter, ...subjects }, atMost);
    return { lines: events.length === 0 ? ['none'] : events.map(eventLine), json: events.map(wholeEvent) };
  });
}

/** Accepts the id of a deleted user, whom only the audit log knows. */
async function userIdOf(services: Services, text: string): Promise<string> {
  const isRecorded = isEntityId(text) && (await services.events.findOfUser(text, 1)).length > 0;
  return isRecorded ? text : (await findUser(services, text)).id;
}

async function followEvents(invocation: Invocation): Promise<Report> {
  const read = (text: string): string | undefined => (text === START || isEntityId(text) ? text : undefined);
  const after = invocation.read('after', read, 'the id of an event, or start');
  return withServices(async ({ feed }) => {
    const { wholeEvent } = await import('../events/events.service.js');
    const { signal } = new AbortController();
    for (let next = after ?? (await feed.end(signal)); ;) {
      const page = await feed.read({ after: next, limit: PAGE, isWanted: () => true, signal });
      for (const event of page.events) await invocation.print(eventLine(event), wholeEvent(event));
      next = page.next;
      if (page.events.length < PAGE) await sleep(PAUSE_MS);
    }
  });
}

function eventLine(event: Event): string {
  const { type, at, actorType, actorId, actorEmail, orgId, userId, data, reason } = event;
  return [
    timeText(at),
    type,
    userId && `user ${userId}`,
    orgId && `org ${orgId}`,
    ['by', actorType, actorId, actorEmail && `(${actorEmail})`].filter((part) => part !== null).join(' '),
    data === '{}' ? null : data,
    reason && JSON.stringify(reason),
  ]
    .filter((part) => part !== null)
    .join('  ');
}
