import { AllSessionsService } from '../../auth/sessions/all-sessions.service.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';

export function endAllSessions(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const users = await services.get(AllSessionsService).endAll(operatorOf(invocation));
    return { lines: [`every session of ${users} users has ended`], json: [{ users }] };
  });
}
