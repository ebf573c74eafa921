import { isEntityId } from '../../identifiers/entity-id.js';
import { type Account, AccountRepository } from '../../users/account.repository.js';
import { canonicalEmail } from '../../users/email-address.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Services } from '../services.js';

/** @throws CannotRunError if the text names nobody */
export async function findUser(services: Services, text: string): Promise<Account> {
  const accounts = services.get(AccountRepository);
  const email = canonicalEmail(text);
  if (!isEntityId(text) && email === undefined) {
    throw new CannotRunError('a user is named by e-mail or id');
  }
  const account = isEntityId(text) ? await accounts.findById(text) : await accounts.findByEmail(email!);
  if (!account) throw new CannotRunError(`there is no user ${isEntityId(text) ? text : email}`);
  return account;
}
