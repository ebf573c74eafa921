import { AllSessionsService } from '../../auth/sessions/all-sessions.service.js';
import { FeedRestart } from '../../events/feed-restart.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';

export function afterRestore(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const users = await services.get(AllSessionsService).endAllAfterRestore(operatorOf(invocation));
    const events = await services.get(FeedRestart).restart();
    return {
      lines: [
        `every session of ${users} users has ended`,
        `the feed begins anew, without its ${events} events: every cursor is refused`,
      ],
      json: [{ users, events }],
    };
  });
}
