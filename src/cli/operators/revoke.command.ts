import { OperatorGrants } from '../../operators/operator-grants.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from '../users/change-user.js';

export function revokeOperator(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(OperatorGrants).revoke(id, actor),
    done: 'no operator any more, from the next request on',
    unchanged: 'is no operator',
  });
}
