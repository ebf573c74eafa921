import type { OperatorActor } from '../../access/actor.js';
import type { UserProfile } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { type Services, withServices } from '../services.js';
import { findUser } from './find-user.js';

interface UserChange {
  /** Returns false if there was nothing to change. */
  make: (services: Services, user: UserProfile, actor: OperatorActor) => Promise<boolean>;
  done: string;
  unchanged: string;
}

export function changeUser(invocation: Invocation, { make, done, unchanged }: UserChange): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const user = await findUser(services, invocation.parameters[0]!);
    const changed = await make(services, user, actor);
    const { id, email } = user;
    return { lines: [`${email} (${id}): ${changed ? done : unchanged}`], json: [{ id, email, changed }] };
  });
}
