import { type Role, ROLES } from '../../access/role.js';
import { MemberSearchRepository } from '../../orgs/members/member-search.repository.js';
import type { ListedMember } from '../../orgs/members/member-list.repository.js';
import { OwnershipRepository } from '../../orgs/ownership.repository.js';
import { CannotRunError } from '../cannot-run.error.js';
import type { Invocation, Report } from '../command.js';
import { parseLimit } from '../limit.js';
import { type Services, withServices } from '../services.js';
import { findOrg } from './find-org.js';
import { orgJson } from './org-text.js';

export function showOrg({ parameters, options }: Invocation): Promise<Report> {
  const { role: only, limit } = options as Record<string, string | undefined>;
  const roles = only === undefined ? ROLES.toReversed() : [roleOf(only)];
  const atMost = parseLimit(limit);
  return withServices(async (services) => {
    const org = await findOrg(services, parameters[0]!);
    const counts = await services.get(OwnershipRepository).countByRole(org.id);
    const members = await membersOf(services, org.id, roles, atMost + 1);
    const shown = members.slice(0, atMost);
    const isCut = members.length > atMost;
    const json = orgJson(org);
    return {
      lines: [
        ...Object.entries(json).map(([key, value]) => `${key.padEnd(10)} ${value}`),
        `${'members'.padEnd(10)} ${totalOf(counts)}`,
        ...shown.map(({ userId, email, role }) => `${role.padEnd(10)} ${userId}  ${email}`),
        ...(isCut ? [`only the first ${atMost} are shown: see --limit and --role`] : []),
      ],
      json: [
        {
          ...json,
          counts: Object.fromEntries(counts.map(({ role, members: count }) => [role, count])),
          members: shown,
          areAllShown: !isCut,
        },
      ],
    };
  });
}

function totalOf(counts: { role: Role; members: number }[]): string {
  const total = counts.reduce((sum, { members }) => sum + members, 0);
  const parts = ROLES.toReversed().flatMap((role) =>
    counts.filter((one) => one.role === role).map(({ members }) => `${members} ${role}`),
  );
  return `${total} in all: ${parts.join(', ')}`;
}

function roleOf(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role === undefined) throw new CannotRunError(`--role: expected one of ${ROLES.join(', ')}`);
  return role;
}

async function membersOf(
  services: Services,
  orgId: string,
  roles: readonly Role[],
  limit: number,
): Promise<ListedMember[]> {
  const members: ListedMember[] = [];
  for (const role of roles) {
    const search = { orgId, prefix: '', role, after: undefined };
    members.push(...(await services.get(MemberSearchRepository).find(search, limit - members.length)));
    if (members.length >= limit) break;
  }
  return members;
}
