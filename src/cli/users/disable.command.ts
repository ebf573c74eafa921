import { AccountDisablingService } from '../../accounts/account-disabling.service.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from './change-user.js';

export function disableUser(invocation: Invocation): Promise<Report> {
  const force = invocation.options['force'] === true;
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(AccountDisablingService).disable(id, { actor, force }),
    done: 'disabled, every session has ended',
    unchanged: 'is disabled already',
  });
}
