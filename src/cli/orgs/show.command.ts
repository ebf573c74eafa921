import { isEntityId } from '../../identifiers/entity-id.js';
import { MemberListRepository } from '../../memberships/member-list.repository.js';
import type { Org } from '../../memberships/org.entity.js';
import { OwnershipRepository } from '../../memberships/ownership.repository.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { type Services, withServices } from '../services.js';
import { timeOrNull, timeText } from '../times.js';

const MAX_SHOWN = 1000;

export function showOrg({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const { id, name, createdAt, deletedAt, purgeAt } = await findOrg(services, parameters[0]!);
    const counts = await services.get(OwnershipRepository).countByRole(id);
    const { members } = await services.get(MemberListRepository).findPage(id, MAX_SHOWN);
    const deletion = { deletedAt: timeOrNull(deletedAt), purgeAt: timeOrNull(purgeAt) };
    const shown = { id, name, createdAt: timeText(createdAt), ...(deletedAt !== null && deletion) };
    return {
      lines: [
        ...Object.entries(shown).map(([key, value]) => `${key.padEnd(10)} ${value}`),
        ...counts.map(({ role, members: count }) => `${`${role}s`.padEnd(10)} ${count}`),
        ...members.map(({ userId, email, role }) => `${role.padEnd(10)} ${userId}  ${email}`),
      ],
      json: [
        {
          ...shown,
          counts: Object.fromEntries(counts.map(({ role, members: count }) => [role, count])),
          members,
        },
      ],
    };
  });
}

/** @throws CannotRunError where the text names none */
export async function findOrg(services: Services, id: string): Promise<Org> {
  const org = isEntityId(id) ? await services.get(OwnershipRepository).findOrg(id) : null;
  if (!org)
    throw new CannotRunError(`there is no organization ${isEntityId(id) ? id : 'of that name: give its id'}`);
  return org;
}
