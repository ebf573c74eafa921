import { AccountDeletionService } from '../../accounts/account-deletion.service.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from './change-user.js';

export function deleteUser(invocation: Invocation): Promise<Report> {
  const force = invocation.options['force'] === true;
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(AccountDeletionService).delete(id, { actor, force }),
    done: 'deleted, with every membership and session',
    unchanged: 'is gone',
  });
}
