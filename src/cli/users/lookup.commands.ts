import { timeText } from '../../identifiers/text.js';
import type { AnyUserOrg } from '../../orgs/state/members.memberships.js';
import { profileOf } from '../../users/profile.js';
import { type LoginTraceView, loginTraceView, type UserView, userJson } from '../../users/user-view.js';
import {
  CannotRunError,
  type CommandDefinition,
  type Invocation,
  LIST_LIMIT,
  type Report,
  write,
} from '../command/definition.js';
import { findUser, printList, withServices } from '../command/services.js';

const MAX_TEXT = 254;

export const LOOKUP_COMMANDS: CommandDefinition[] = [
  {
    usage: 'list',
    summary: 'list all users, ordered by email',
    options: [LIST_LIMIT],
    examples: ['users list', 'users list --json'],
    run: (invocation) => printMatching(invocation, ''),
  },
  {
    usage: 'find <TEXT>',
    summary: 'find users by a part of their email',
    options: [LIST_LIMIT],
    examples: ['users find ada', 'users find @example.com --json'],
    run: findUsers,
  },
  {
    usage: 'show <USER>',
    summary: 'show a user, their organizations and active sessions, and failed logins since the last login',
    details: 'USER is an email address or an id.',
    examples: ['users show ada@example.com'],
    run: showUser,
  },
  {
    usage: 'sessions <USER>',
    summary: 'list the active sessions of a user, latest first',
    details: 'USER is an email address or an id.',
    examples: ['users sessions ada@example.com', 'users sessions ada@example.com --json'],
    run: listSessions,
  },
];

export const EXPORT: CommandDefinition = {
  usage: 'export <USER>',
  summary: 'print all data about one user as a JSON document, to answer an access request',
  details: [
    'USER is an email address or an id. The document contains the user, their organizations, their sessions, the audit log',
    'about them, and the invitations to their email if it is verified. It contains no hashes, no codes, no IP addresses of',
    'other users, and no reasons that operators gave.',
  ].join('\n'),
  examples: ['export ada@example.com > ada.json'],
  run: exportUser,
};

async function findUsers(invocation: Invocation): Promise<Report> {
  const text = (invocation.parameters[0] ?? '').trim();
  if (text === '' || text.length > MAX_TEXT) {
    throw new CannotRunError(`expected 1 to ${MAX_TEXT} characters of an email`);
  }
  return printMatching(invocation, text);
}

function printMatching(invocation: Invocation, text: string): Promise<Report> {
  return printList<UserView>(invocation, {
    findPage: ({ users }, limit, after) => users.search(text, limit, after?.email),
    lineOf: userLine,
    jsonOf: userJson,
    none: 'none',
  });
}

export function userLine({ id, email, disabledAt }: UserView): string {
  return `${id}  ${email}${disabledAt === null ? '' : '  DISABLED'}`;
}

function showUser({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const sessions = await services.userSessions.countAlive(user.id, Date.now());
    const orgs = await services.memberships.findOrgsEvenDeleted(user.id);
    const invitations = await services.invitations.countPending(user.email, Date.now());
    const { lastLoginAt, failedLogins } = loginTraceView(await services.loginTraces.find(user.id));
    const shown = { ...userJson(user), ...profileOf(user), lastLoginAt };
    return {
      lines: [
        ...Object.entries(shown).map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        `${'failedLogins'.padEnd(18)} ${failuresText(failedLogins)}`,
        `${'sessions'.padEnd(18)} ${sessions} active`,
        `${'invitations'.padEnd(18)} ${invitations} pending`,
        ...orgs.map(orgLine),
      ],
      json: [{ ...shown, failedLogins, sessions, invitations, orgs: orgs.map(orgJson) }],
    };
  });
}

function failuresText({ count, lastAt, lastIp }: LoginTraceView['failedLogins']): string {
  return count === 0
    ? '0'
    : `${count} since then, the last at ${lastAt} from ${lastIp ?? 'a deleted IP address'}`;
}

function orgLine({ id, name, role, deletedAt }: AnyUserOrg): string {
  return `${role.padEnd(18)} ${id}  ${name}${deletedAt === null ? '' : '  DELETED'}`;
}

function orgJson({ id, name, role, deletedAt }: AnyUserOrg): object {
  return { id, name, role, ...(deletedAt !== null && { deletedAt: timeText(deletedAt) }) };
}

function listSessions({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const { sessionView } = await import('../../auth/sessions/sessions.of-user.js');
    const { id } = await findUser(services, parameters[0]!);
    const sessions = (await services.userSessions.listAlive(id)).map(sessionView);
    const lines = sessions.map(({ id: session, via, lastUsedAt, ip, deviceName, userAgent, service }) =>
      [session, via.padEnd(8), `used ${lastUsedAt}`, ip, deviceName, userAgent, service]
        .filter((part) => part !== null)
        .join('  '),
    );
    return { lines: lines.length === 0 ? ['none'] : lines, json: sessions };
  });
}

function exportUser({ parameters, asJson }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const { documentText } = await import('../../accounts/user-export.js');
    const document = services.userExport.documentOf(user);
    for await (const text of documentText(document, asJson ? '' : '\n')) await write(text);
    return { lines: [], json: [] };
  });
}
