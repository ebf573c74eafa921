import { UserDisablingService } from '../../users/user-disabling.service.js';
import type { Invocation, Report } from '../command.js';
import { changeOwner } from './change-owner.js';

export function disableUser(invocation: Invocation): Promise<Report> {
  return changeOwner(invocation, {
    make: (services, { id }, how) => services.get(UserDisablingService).disable(id, how),
    done: 'disabled, every session has ended',
    unchanged: 'is already disabled',
  });
}
