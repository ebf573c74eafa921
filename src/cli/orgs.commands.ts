import { type Role, ROLES } from '../access/principal.js';
import { oneLine } from '../identifiers/one-line.js';
import { orgView } from '../operators/views.js';
import { type ListedMember, MemberLists } from '../orgs/state/members.lists.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { OrgsRepository } from '../orgs/state/orgs.repository.js';
import { MAX_ORG_NAME, type Org } from '../orgs/state/org.entity.js';
import { OrgOwnersService } from '../orgs/org-owners.service.js';
import type { Invocation, Report } from './command/definition.js';
import { printList } from './command/list.js';
import { findOrg, findUser } from './command/lookups.js';
import { CannotRunError, choiceOption, limitOption, operatorOf } from './command/options.js';
import { type Services, withServices } from './command/services.js';

export function listOrgs(invocation: Invocation): Promise<Report> {
  return printOrgs(invocation, () => true);
}

/** Compares names here, because databases differ in which letters they take for the same. */
export async function findOrgs(invocation: Invocation): Promise<Report> {
  const part = oneLine(invocation.parameters[0], MAX_ORG_NAME);
  if (part === undefined) throw new CannotRunError(`expected 1 to ${MAX_ORG_NAME} characters of a name`);
  const wanted = comparable(part);
  return printOrgs(invocation, ({ name }) => comparable(name).includes(wanted));
}

function printOrgs(invocation: Invocation, isShown: (org: Org) => boolean): Promise<Report> {
  return printList<Org>(invocation, (services) => ({
    findPage: (after, limit) => services.get(OrgsRepository).findAfter(after?.id ?? '', limit),
    isShown,
    lineOf: orgLine,
    jsonOf: orgJson,
    none: 'none',
  }));
}

function comparable(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

function orgLine({ id, name, deletedAt }: Org): string {
  return `${id}  ${name}${deletedAt === null ? '' : '  DELETED'}`;
}

function orgJson(org: Org): object {
  const { deletedAt, purgeAt, ...view } = orgView(org);
  return deletedAt === null ? view : { ...view, deletedAt, purgeAt };
}

export async function showOrg(invocation: Invocation): Promise<Report> {
  const only = choiceOption(invocation, 'role', ROLES);
  const atMost = limitOption(invocation);
  return withServices(async (services) => {
    const org = await findOrg(services, invocation.parameters[0]!);
    const counts = await services.get(MembersRepository).countByRole(org.id);
    const roles = only === undefined ? ROLES.toReversed() : [only];
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

async function membersOf(
  services: Services,
  orgId: string,
  roles: readonly Role[],
  limit: number,
): Promise<ListedMember[]> {
  const members: ListedMember[] = [];
  for (const role of roles) {
    const search = { orgId, prefix: '', role, after: undefined };
    members.push(...(await services.get(MemberLists).search(search, limit - members.length)));
    if (members.length >= limit) break;
  }
  return members;
}

function totalOf(counts: { role: Role; members: number }[]): string {
  const total = counts.reduce((sum, { members }) => sum + members, 0);
  const parts = ROLES.toReversed().flatMap((role) =>
    counts.filter((one) => one.role === role).map(({ members }) => `${members} ${role}`),
  );
  return `${total} in all: ${parts.join(', ')}`;
}

export function setOwner(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const [orgText = '', userText = ''] = invocation.parameters;
    const org = await findOrg(services, orgText);
    const user = await findUser(services, userText);
    const force = invocation.options['force'] === true;
    const owner = { orgId: org.id, userId: user.id, actor, force };
    const changed = await services.get(OrgOwnersService).add(owner);
    return {
      lines: [
        `${user.email} (${user.id}): ${changed ? 'owner now' : 'an owner already'} of ${org.name} (${org.id})`,
      ],
      json: [{ orgId: org.id, userId: user.id, changed }],
    };
  });
}
