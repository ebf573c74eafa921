import { serviceView } from '../../operators/views.js';
import { ServicesRepository } from '../../services/services.repository.js';
import type { Invocation, Report } from '../command.js';
import { listLimit, printList } from '../print-list.js';
import { withServices } from '../services.js';
import { serviceLine } from './service-text.js';

export async function listServices(invocation: Invocation): Promise<Report> {
  listLimit(invocation.options);
  return withServices((services) =>
    printList(invocation, {
      findPage: (after, limit) => services.get(ServicesRepository).findPage(limit, after?.name),
      lineOf: serviceLine,
      jsonOf: serviceView,
      none: 'no services',
    }),
  );
}
