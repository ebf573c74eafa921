import { userJson } from '../../users/user-json.js';
import { UsersRepository } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command.js';
import { CannotRunError } from '../cannot-run.error.js';
import { listLimit, printList } from '../print-list.js';
import { withServices } from '../services.js';
import { userLine } from './user-text.js';

const MAX_TEXT = 254;

export async function findUsers(invocation: Invocation): Promise<Report> {
  const text = (invocation.parameters[0] ?? '').trim();
  if (text === '' || text.length > MAX_TEXT) {
    throw new CannotRunError(`expected 1 to ${MAX_TEXT} characters of an e-mail`);
  }
  listLimit(invocation.options);
  return withServices((services) =>
    printList(invocation, {
      findPage: (after, limit) => services.get(UsersRepository).search(text, limit, after?.email),
      lineOf: userLine,
      jsonOf: userJson,
      none: 'nobody',
    }),
  );
}
