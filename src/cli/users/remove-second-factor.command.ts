import { SecondFactorRemoval } from '../../auth/second-factor/second-factor-removal.js';
import type { Invocation, Report } from '../command.js';
import { changeUser } from './change-user.js';

export function removeSecondFactor(invocation: Invocation): Promise<Report> {
  return changeUser(invocation, {
    make: (services, user, actor) => services.get(SecondFactorRemoval).byOperator(user, actor),
    done: 'the second factor is removed, and every session has ended',
    unchanged: 'has no second factor',
  });
}
