import { secretView, serviceView } from '../../operators/views.js';
import { shownText } from '../../services/service-secrets.js';
import { ServiceSecretsRepository } from '../../services/service-secrets.repository.js';
import type { Invocation, Report } from '../command.js';
import { withServices } from '../services.js';
import { findService } from './find-service.js';
import { secretLine } from './service-text.js';

export function showService({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const service = await findService(services, parameters[0]!);
    const secrets = await services.get(ServiceSecretsRepository).findOf(service.name);
    const shown = serviceView(service);
    const fields = Object.entries({ ...shown, allow: shownText(service.allow) });
    return {
      lines: [
        ...fields.map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        ...secrets.map(secretLine),
      ],
      json: [{ ...shown, secrets: secrets.map(secretView) }],
    };
  });
}
