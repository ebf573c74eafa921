import { isEntityId } from '../../identifiers/entity-id.js';
import { canonicalEmail } from '../../users/email-address.js';
import { type UserProfile, UsersRepository } from '../../users/users.repository.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Services } from '../services.js';

export async function findUser(services: Services, text: string): Promise<UserProfile> {
  const users = services.get(UsersRepository);
  const email = canonicalEmail(text);
  if (!isEntityId(text) && email === undefined) {
    throw new CannotRunError('expected the e-mail or the id of a user');
  }
  const user = isEntityId(text) ? await users.findById(text) : await users.findByEmail(email!);
  if (!user) throw new CannotRunError(`there is no user ${isEntityId(text) ? text : email}`);
  return user;
}
