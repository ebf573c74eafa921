import { type Role, ROLES } from '../access/principal.js';
import { oneLine, timeOrNull, timeText } from '../identifiers/text.js';
import { ORG_STATUSES, orgView } from '../operators/views.js';
import { MembersService } from '../orgs/members/members.service.js';
import { OperatedOrgs } from '../orgs/operated-orgs.js';
import { type ListedMember, MemberListsRepository } from '../orgs/state/members.lists.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { MAX_ORG_NAME, type Org } from '../orgs/state/org.entity.js';
import { OrgsRepository } from '../orgs/state/orgs.repository.js';
import { type Context, findOrg, findUser, partFinder, printList, withContext } from './command/context.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type Invocation,
  type Outcome,
  outcomeOf,
  type Report,
  reportOn,
} from './command/definition.js';

export async function findOrgs(invocation: Invocation): Promise<Report> {
  const part = oneLine(invocation.parameters[0], MAX_ORG_NAME);
  if (part === undefined) throw new CannotRunError(`expected 1 to ${MAX_ORG_NAME} characters of a name`);
  const has = partFinder(part);
  return printOrgs(invocation, async (_, page) => page.filter(({ name }) => has(name)));
}

export function listOrgs(invocation: Invocation): Promise<Report> {
  const status = invocation.choice('status', ORG_STATUSES);
  return printOrgs(invocation, async (context, page) =>
    status ? context.get(MembersRepository).ofStatus(status, page) : page,
  );
}

function printOrgs(
  invocation: Invocation,
  choose: (context: Context, page: Org[]) => Promise<Org[]>,
): Promise<Report> {
  return printList<Org>(invocation, {
    findPage: (context, limit, after) => context.get(OrgsRepository).findAfter(after?.id ?? '', limit),
    choose,
    lineOf: ({ id, name, deletedAt }) => `${id}  ${name}${deletedAt === null ? '' : '  DELETED'}`,
    jsonOf: orgJson,
    none: 'none',
  });
}

function orgJson(org: Org): object {
  const { deletedAt, purgeAt, ...view } = orgView(org);
  const from = timeOrNull(org.secondFactorFrom);
  const requirement = from === null ? {} : { secondFactorRequiredFrom: from };
  return { ...view, ...requirement, ...(deletedAt !== null && { deletedAt, purgeAt }) };
}

export async function showOrg(invocation: Invocation): Promise<Report> {
  const only = invocation.choice('role', ROLES);
  const atMost = invocation.limit();
  return withContext(async (context) => {
    const org = await findOrg(context, invocation.parameters[0]!);
    const counts = await context.get(MembersRepository).countByRole(org.id);
    const roles = only === undefined ? ROLES.toReversed() : [only];
    const members: ListedMember[] = [];
    for (const role of roles) {
      if (members.length > atMost) break;
      const search = { orgId: org.id, prefix: '', role, after: undefined };
      members.push(...(await context.get(MemberListsRepository).search(search, atMost + 1 - members.length)));
    }
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

export function addOwner(invocation: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const actor = invocation.operator();
    const [orgText = '', userText = ''] = invocation.parameters;
    const org = await findOrg(context, orgText);
    const user = await findUser(context, userText);
    const force = invocation.flag('force');
    const changed = await context
      .get(MembersService)
      .makeOwner({ orgId: org.id, userId: user.id, actor, force });
    const of = `an owner of ${org.name} (${org.id})`;
    const names = { orgId: org.id, userId: user.id };
    return reportOn(`${user.email} (${user.id})`, names, outcomeOf(changed, `now ${of}`, `already ${of}`));
  });
}

export const deleteOrg = onOrg(async (context, { id }, { actor }) => {
  const { kind, answer } = await context.get(OperatedOrgs).delete(id, actor);
  const changed = kind === 'done';
  const until = timeText(answer.purgeAt);
  const text = `${changed ? 'deleted' : 'is already deleted'}, can be restored until ${until}`;
  return { text, json: { changed, purgeAt: until } };
});

export const restoreOrg = onOrg(async (context, { id }, { actor, force }) => {
  const outcome = await context.get(OperatedOrgs).restore(id, actor, force);
  return outcomeOf(outcome, 'restored', 'is not deleted');
});

export const liftSecondFactor = onOrg(async (context, { id }, { actor }) => {
  const outcome = await context.get(OperatedOrgs).liftSecondFactor(id, actor);
  const factor = 'two-factor authentication';
  return outcomeOf(outcome, `no longer requires ${factor}`, `does not require ${factor}`);
});

function onOrg(
  work: (context: Context, org: Org, change: Change) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withContext(async (context) => {
      const change = invocation.change();
      const org = await findOrg(context, invocation.parameters[0]!);
      const outcome = await work(context, org, change);
      return reportOn(`${org.name} (${org.id})`, { orgId: org.id }, outcome);
    });
}
