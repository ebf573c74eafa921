import { ServiceChanges } from '../../services/service-changes.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { requireScopes } from './require-scopes.js';

export async function addService(invocation: Invocation): Promise<Report> {
  const { allow } = invocation.options;
  const scopes = requireScopes(typeof allow === 'string' ? allow : 'none');
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const name = invocation.parameters[0]!;
    const { id, secret } = await services.get(ServiceChanges).add(name, scopes, actor);
    return {
      lines: [`${name}: added, with the secret ${id}, which is shown only now`, `secret: ${secret}`],
      json: [{ name, allow: scopes, secretId: id, secret }],
    };
  });
}
