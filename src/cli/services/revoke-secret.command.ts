import { ServiceChanges } from '../../services/service-changes.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { findService } from './find-service.js';

export function revokeSecret(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const [text = '', id] = invocation.parameters;
    const endSessions = invocation.options['endSessions'] === true;
    const { name } = await findService(services, text);
    const change = { secretId: id, endSessions };
    const { secretId, revoked } = await services.get(ServiceChanges).revokeSecret(name, change, actor);
    const ended = endSessions ? ', and every session that a code for the service opened has ended' : '';
    return {
      lines: [`${name}: the secret ${secretId} ${revoked ? 'is revoked' : 'was revoked already'}${ended}`],
      json: [{ name, secretId, changed: revoked, sessionsEnded: endSessions }],
    };
  });
}
