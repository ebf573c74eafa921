import type { Service } from '../../services/service.entity.js';
import { isServiceName } from '../../services/service-name.js';
import { ServicesRepository } from '../../services/services.repository.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Services } from '../services.js';

export async function findService(services: Services, text: string): Promise<Service> {
  if (!isServiceName(text)) {
    throw new CannotRunError('the name of a service is 1 to 40 lower-case letters, digits and hyphens');
  }
  const found = await services.get(ServicesRepository).find(text);
  if (!found) throw new CannotRunError(`there is no service ${text}`);
  return found;
}
