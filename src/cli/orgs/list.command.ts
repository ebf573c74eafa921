import { OwnershipRepository } from '../../orgs/ownership.repository.js';
import type { Invocation, Report } from '../command.js';
import { listLimit, printList } from '../print-list.js';
import { withServices } from '../services.js';
import { orgJson, orgLine } from './org-text.js';

export async function listOrgs(invocation: Invocation): Promise<Report> {
  listLimit(invocation.options);
  return withServices((services) =>
    printList(invocation, {
      findPage: (after, limit) => services.get(OwnershipRepository).findPage(limit, after?.id),
      lineOf: orgLine,
      jsonOf: orgJson,
      none: 'none',
    }),
  );
}
