import type { OperatorActor } from '../../access/actor.js';
import { ServiceChanges } from '../../services/service-changes.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { findService } from './find-service.js';

interface ServiceChange {
  /** Returns false if there was nothing to change. */
  make: (changes: ServiceChanges, name: string, actor: OperatorActor) => Promise<boolean>;
  done: string;
  unchanged: string;
}

export function changeService(
  invocation: Invocation,
  { make, done, unchanged }: ServiceChange,
): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const { name } = await findService(services, invocation.parameters[0]!);
    const changed = await make(services.get(ServiceChanges), name, actor);
    return { lines: [`${name}: ${changed ? done : unchanged}`], json: [{ name, changed }] };
  });
}
