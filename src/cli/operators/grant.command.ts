import { OperatorGrants } from '../../operators/operator-grants.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from '../users/change-user.js';

export function grantOperator(invocation: Invocation): Promise<Report> {
  const force = invocation.options['force'] === true;
  return changeUser(invocation, {
    make: (services, { id }, actor) => services.get(OperatorGrants).grant(id, { actor, force }),
    done: 'an operator now',
    unchanged: 'is an operator already',
  });
}
