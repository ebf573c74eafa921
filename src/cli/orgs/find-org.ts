import { oneLine } from '../../http/one-line.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MAX_ORG_NAME, type Org } from '../../orgs/org.entity.js';
import { OwnershipRepository } from '../../orgs/ownership.repository.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Services } from '../services.js';

const MAX_NAMED = 3;

/** @throws CannotRunError if the text is neither an id nor the whole name of exactly one organization */
export function findOrg(services: Services, text: string): Promise<Org> {
  const orgs = services.get(OwnershipRepository);
  return isEntityId(text) ? findById(orgs, text) : findByName(orgs, text);
}

async function findById(orgs: OwnershipRepository, id: string): Promise<Org> {
  const org = await orgs.findOrg(id);
  if (!org) throw new CannotRunError(`there is no organization ${id}`);
  return org;
}

async function findByName(orgs: OwnershipRepository, name: string): Promise<Org> {
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
