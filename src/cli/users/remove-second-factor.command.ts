import { type Removal, SecondFactorRemoval } from '../../auth/second-factor/second-factor-removal.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { findUser } from './find-user.js';

export function removeSecondFactor(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const user = await findUser(services, invocation.parameters[0]!);
    const removal = await services.get(SecondFactorRemoval).byOperator(user, actor);
    const { id, email } = user;
    const changed = removal.kind === 'removed';
    const operatorRevoked = changed && removal.wasOperator;
    return {
      lines: [`${email} (${id}): ${textOf(removal)}`],
      json: [{ id, email, changed, operatorRevoked }],
    };
  });
}

function textOf(removal: Removal): string {
  if (removal.kind === 'unchanged') return 'has no second factor';
  const removed = 'the second factor is removed, and every session has ended';
  return removal.wasOperator ? `${removed}; the user is no longer an operator` : removed;
}
