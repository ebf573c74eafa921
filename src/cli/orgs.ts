import { type Role, ROLES } from '../access/principal.js';
import { oneLine, timeOrNull, timeText } from '../identifiers/text.js';
import { ORG_STATUSES, orgView } from '../operators/views.js';
import { MembersService, type OperatedMember } from '../orgs/members/members.service.js';
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
      const search = { orgId: org.id, prefix: '', role, after: undefined, withStatus: true };
      members.push(...(await context.get(MemberListsRepository).search(search, atMost + 1 - members.length)));
    }
    const shown = members.slice(0, atMost);
    const isCut = members.length > atMost;
    const json = orgJson(org);
    return {
      lines: [
        ...Object.entries(json).map(([key, value]) => `${key.padEnd(10)} ${value}`),
        `${'members'.padEnd(10)} ${totalOf(counts)}`,
        ...shown.map(
          ({ userId, email, role, disabled }) =>
            `${role.padEnd(10)} ${userId}  ${email}${disabled === true ? '  DISABLED' : ''}`,
        ),
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

export const addOwner = onMember(async (members, member, of, { force }) => {
  const outcome = await members.makeOwner({ ...member, force });
  return outcomeOf(outcome, `now an owner of ${of}`, `already an owner of ${of}`);
});

export const setRole = onMember(async (members, member, of, _, invocation) => {
  const role = ROLES.find((one) => one === invocation.parameters[2]);
  if (role === undefined)
    throw new CannotRunError(`expected one of ${ROLES.join(', ')} as the third parameter`);
  const outcome = await members.changeRoleByOperator(member, role);
  return outcomeOf(outcome, `now ${role} in ${of}`, `already ${role} in ${of}`);
});

export const removeMember = onMember(async (members, member, of) => {
  const outcome = await members.removeByOperator(member);
  return outcomeOf(outcome, `no longer a member of ${of}`, `is not a member of ${of}`);
});

function onMember(
  work: (
    members: MembersService,
    member: OperatedMember,
    of: string,
    change: Change,
    invocation: Invocation,
  ) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withContext(async (context) => {
      const change = invocation.change();
      const [orgText = '', userText = ''] = invocation.parameters;
      const { id: orgId, name } = await findOrg(context, orgText);
      const { id: userId, email } = await findUser(context, userText);
      const member = { orgId, userId, actor: change.actor };
      const of = `${name} (${orgId})`;
      const outcome = await work(context.get(MembersService), member, of, change, invocation);
      return reportOn(`${email} (${userId})`, { orgId, userId }, outcome);
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
