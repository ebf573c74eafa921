import { type Role, ROLES } from '../access/principal.js';
import { oneLine, timeOrNull, timeText } from '../identifiers/text.js';
import { ORG_STATUSES, orgView } from '../operators/views.js';
import type { ListedMember } from '../orgs/state/members.lists.js';
import type { Org } from '../orgs/state/org.entity.js';
import type { Services } from './command/cli.module.js';
import {
  CannotRunError,
  type Change,
  type CommandDefinition,
  type CommandGroup,
  type Invocation,
  LIST_LIMIT,
  type Outcome,
  outcomeOf,
  type Report,
  reportOn,
} from './command/definition.js';
import { findOrg, findUser, MAX_NAME, printList, withServices } from './command/services.js';

const ORG = 'ORG is an id, or a full name that only one organization has.';

export const ORGS: CommandGroup = {
  name: 'orgs',
  summary: 'organizations and their owners',
  commands: [
    {
      usage: 'list',
      summary: 'list all organizations in order of creation, including deleted ones',
      options: [
        ['--status <STATUS>', 'only active, deleted, or ownerless: active, but without an enabled owner'],
        LIST_LIMIT,
      ],
      examples: ['orgs list', 'orgs list --status ownerless --json'],
      run: listOrgs,
    },
    {
      usage: 'find <TEXT>',
      summary: 'find organizations by a part of their name, ignoring case',
      options: [LIST_LIMIT],
      examples: ['orgs find analytical', 'orgs find "Analytical Engines" --json'],
      run: findOrgs,
    },
    {
      usage: 'show <ORG>',
      summary: 'show an organization and its members, owners first',
      details: ORG,
      options: [
        ['--role <ROLE>', 'only members with this role: owner, admin or member'],
        ['--limit <NUMBER>', 'at most this many members, 1 to 10000 (default: 100)'],
      ],
      examples: [
        'orgs show "Analytical Engines" --role owner',
        'orgs show 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --limit 1000 --json',
      ],
      run: showOrg,
    },
    {
      usage: 'add-owner <ORG> <USER>',
      summary: 'make a user an owner; the existing owners remain',
      details: `${ORG} USER is an email address or an id.`,
      options: [['--force', 'add a user who is not a member: they join as an owner']],
      changes: true,
      examples: [
        'orgs add-owner 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f ada@example.com --reason "its owner left the company"',
      ],
      run: addOwner,
    },
    {
      usage: 'delete <ORG>',
      summary: 'delete an organization; an owner or an operator can restore it until it is purged',
      details: `${ORG} Requests for it return 404 immediately, and its pending invitations are revoked.`,
      changes: true,
      examples: ['orgs delete 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --reason "ticket 4711: spam"'],
      run: onOrg(async ({ operatedOrgs }, { id }, { actor }) => {
        const { changed, purgeAt } = await operatedOrgs.delete(id, actor);
        const until = timeText(purgeAt);
        const text = `${changed ? 'deleted' : 'is already deleted'}, can be restored until ${until}`;
        return { text, json: { changed, purgeAt: until } };
      }),
    },
    {
      usage: 'restore <ORG>',
      summary: 'restore a deleted organization with the members who still exist',
      details: `${ORG} The command refuses an organization without an enabled owner.`,
      options: [['--force', 'restore it even if it has no enabled owner: add one afterwards']],
      changes: true,
      examples: [
        'orgs restore 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --reason "ticket 4711: deleted by mistake"',
      ],
      run: onOrg(async ({ operatedOrgs }, { id }, { actor, force }) => {
        const { changed } = await operatedOrgs.restore(id, actor, force);
        return outcomeOf(changed, 'restored', 'is not deleted');
      }),
    },
    {
      usage: 'lift-second-factor <ORG>',
      summary: 'end the requirement of two-factor authentication in an organization',
      details: `${ORG} Members who were suspended by it can continue.`,
      changes: true,
      examples: [
        'orgs lift-second-factor 019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f --reason "ticket 4711: all owners are suspended"',
      ],
      run: onOrg(async ({ operatedOrgs }, { id }, { actor }) => {
        const { changed } = await operatedOrgs.liftSecondFactor(id, actor);
        const factor = 'two-factor authentication';
        return outcomeOf(changed, `no longer requires ${factor}`, `does not require ${factor}`);
      }),
    },
  ],
};

/** Compares names here, because databases differ in which letters are equal. */
async function findOrgs(invocation: Invocation): Promise<Report> {
  const part = oneLine(invocation.parameters[0], MAX_NAME);
  if (part === undefined) throw new CannotRunError(`expected 1 to ${MAX_NAME} characters of a name`);
  const wanted = comparable(part);
  return printOrgs(invocation, async (_, page) =>
    page.filter(({ name }) => comparable(name).includes(wanted)),
  );
}

function listOrgs(invocation: Invocation): Promise<Report> {
  const status = invocation.choice('status', ORG_STATUSES);
  return printOrgs(invocation, async ({ members }, page) => (status ? members.ofStatus(status, page) : page));
}

function comparable(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

function printOrgs(
  invocation: Invocation,
  choose: (services: Services, page: Org[]) => Promise<Org[]>,
): Promise<Report> {
  return printList<Org>(invocation, {
    findPage: ({ orgs }, limit, after) => orgs.findAfter(after?.id ?? '', limit),
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

async function showOrg(invocation: Invocation): Promise<Report> {
  const only = invocation.choice('role', ROLES);
  const atMost = invocation.limit();
  return withServices(async (services) => {
    const org = await findOrg(services, invocation.parameters[0]!);
    const counts = await services.members.countByRole(org.id);
    const roles = only === undefined ? ROLES.toReversed() : [only];
    const members: ListedMember[] = [];
    for (const role of roles) {
      if (members.length > atMost) break;
      const search = { orgId: org.id, prefix: '', role, after: undefined };
      members.push(...(await services.memberLists.search(search, atMost + 1 - members.length)));
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

function addOwner(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = invocation.operator();
    const [orgText = '', userText = ''] = invocation.parameters;
    const org = await findOrg(services, orgText);
    const user = await findUser(services, userText);
    const force = invocation.flag('force');
    const changed = await services.memberChanges.makeOwner({ orgId: org.id, userId: user.id, actor, force });
    const of = `an owner of ${org.name} (${org.id})`;
    const names = { orgId: org.id, userId: user.id };
    return reportOn(`${user.email} (${user.id})`, names, outcomeOf(changed, `now ${of}`, `already ${of}`));
  });
}

function onOrg(
  work: (services: Services, org: Org, change: Change) => Promise<Outcome>,
): CommandDefinition['run'] {
  return (invocation) =>
    withServices(async (services) => {
      const change = invocation.change();
      const org = await findOrg(services, invocation.parameters[0]!);
      const outcome = await work(services, org, change);
      return reportOn(`${org.name} (${org.id})`, { orgId: org.id }, outcome);
    });
}
