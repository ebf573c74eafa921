import { AllSessionsService } from '../../auth/sessions/all-sessions.service.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from './change-user.js';

export function endSessions(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(AllSessionsService).endAllOf(id, actor),
    done: 'every session has ended',
    unchanged: 'is gone',
  });
}
