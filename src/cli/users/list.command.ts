import { AccountRepository } from '../../users/account.repository.js';
import type { Invocation, Report } from '../command.js';
import { listLimit, printList } from '../print-list.js';
import { withServices } from '../services.js';
import { accountJson, accountLine } from './account-text.js';

export async function listUsers(invocation: Invocation): Promise<Report> {
  listLimit(invocation.options);
  return withServices((services) =>
    printList(invocation, {
      findPage: (after, limit) => services.get(AccountRepository).findPage(limit, after?.email),
      lineOf: accountLine,
      jsonOf: accountJson,
      none: 'nobody',
    }),
  );
}
