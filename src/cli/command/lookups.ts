import { oneLine } from '../../identifiers/one-line.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MAX_ORG_NAME, type Org } from '../../orgs/state/org.entity.js';
import { OrgsRepository } from '../../orgs/state/orgs.repository.js';
import { canonicalEmail } from '../../users/email-address.js';
import { type UserProfile, UsersRepository } from '../../users/users.repository.js';
import { CannotRunError } from './options.js';
import type { Services } from './services.js';

const MAX_NAMED = 3;

/** @throws CannotRunError if the text is neither the id nor the email of a user */
export async function findUser(services: Services, text: string): Promise<UserProfile> {
  const users = services.get(UsersRepository);
  const email = canonicalEmail(text);
  if (!isEntityId(text) && email === undefined) {
    throw new CannotRunError('expected the email or the id of a user');
  }
  const user = isEntityId(text) ? await users.findById(text) : await users.findByEmail(email!);
  if (!user) throw new CannotRunError(`there is no user ${isEntityId(text) ? text : email}`);
  return user;
}

/** @throws CannotRunError if the text is neither an id nor the whole name of exactly one organization */
export async function findOrg(services: Services, text: string): Promise<Org> {
  const orgs = services.get(OrgsRepository);
  if (!isEntityId(text)) return findOrgByName(orgs, text);
  const org = await orgs.find(text);
  if (!org) throw new CannotRunError(`there is no organization ${text}`);
  return org;
}

async function findOrgByName(orgs: OrgsRepository, name: string): Promise<Org> {
  const stored = oneLine(name, MAX_ORG_NAME);
  const named = stored === undefined ? [] : await orgs.findNamed(stored, MAX_NAMED + 1);
  const [org, other] = named;
  if (!org) throw new CannotRunError('there is no organization of that name: see accounts orgs find');
  if (other) throw new CannotRunError(`several organizations have that name: give an id, ${idsOf(named)}`);
  return org;
}

function idsOf(orgs: Org[]): string {
  const ids = orgs.slice(0, MAX_NAMED).map(({ id }) => id);
  return ids.join(', ') + (orgs.length > MAX_NAMED ? ' or another' : '');
}
