import { SessionRevocation } from '../../auth/sessions/session-revocation.js';
import { EventsRetention } from '../../events/events-retention.js';
import type { Invocation, Report } from '../command/definition.js';
import { operatorOf } from '../command/options.js';
import { withServices } from '../command/services.js';

export function endAllSessions(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const users = await services.get(SessionRevocation).revokeAllOfEveryUser(operatorOf(invocation));
    return { lines: [`every session of ${users} users has ended`], json: [{ users }] };
  });
}

export function afterRestore(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const users = await services.get(SessionRevocation).revokeAllAfterRestore(operatorOf(invocation));
    const events = await services.get(EventsRetention).resetFeed();
    return {
      lines: [
        `every session of ${users} users has ended`,
        `the feed begins anew, without its ${events} events: every cursor is refused`,
      ],
      json: [{ users, events }],
    };
  });
}
