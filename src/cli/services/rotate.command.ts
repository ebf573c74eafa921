import { ServiceChanges } from '../../services/service-changes.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { findService } from './find-service.js';

export function rotateSecret(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const { name } = await findService(services, invocation.parameters[0]!);
    const { id, secret } = await services.get(ServiceChanges).rotate(name, actor);
    return {
      lines: [`${name}: another secret, ${id}, which is shown only now`, `secret: ${secret}`],
      json: [{ name, secretId: id, secret }],
    };
  });
}
