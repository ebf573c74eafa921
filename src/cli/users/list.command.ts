import { userJson } from '../../users/user-json.js';
import { UsersRepository } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command.js';
import { listLimit, printList } from '../print-list.js';
import { withServices } from '../services.js';
import { userLine } from './user-text.js';

export async function listUsers(invocation: Invocation): Promise<Report> {
  listLimit(invocation.options);
  return withServices((services) =>
    printList(invocation, {
      findPage: (after, limit) => services.get(UsersRepository).findPage(limit, after?.email),
      lineOf: userLine,
      jsonOf: userJson,
      none: 'nobody',
    }),
  );
}
