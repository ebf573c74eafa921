import { UserDeletionService } from '../../users/user-deletion.service.js';
import type { Invocation, Report } from '../command.js';
import { changeOwner } from './change-owner.js';

export function deleteUser(invocation: Invocation): Promise<Report> {
  return changeOwner(invocation, {
    make: (services, { id }, how) => services.get(UserDeletionService).delete(id, how),
    done: 'deleted, with every membership and session',
    unchanged: 'is gone',
  });
}
