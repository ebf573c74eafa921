import { UserDisablingService } from '../../users/user-disabling.service.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from './change-user.js';

export function enableUser(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(UserDisablingService).enable(id, actor),
    done: 'enabled, can log in',
    unchanged: 'is not disabled',
  });
}
