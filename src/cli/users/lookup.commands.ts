import { UserSessionsRepository } from '../../auth/sessions/sessions.of-user.js';
import { timeText } from '../../operators/views.js';
import { InvitationLists } from '../../orgs/state/invitations.lists.js';
import { type AnyUserOrg, Memberships } from '../../orgs/state/members.memberships.js';
import { documentText, UserExport } from '../../accounts/user-export.js';
import { userJson } from '../../users/user-json.js';
import { type UserProfile, UsersRepository } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command/definition.js';
import { printList } from '../command/list.js';
import { findUser } from '../command/lookups.js';
import { CannotRunError } from '../command/options.js';
import { write } from '../command/output.js';
import { withServices } from '../command/services.js';

const MAX_TEXT = 254;

export function listUsers(invocation: Invocation): Promise<Report> {
  return printList<UserProfile>(invocation, (services) => ({
    findPage: (after, limit) => services.get(UsersRepository).findPage(limit, after?.email),
    lineOf: userLine,
    jsonOf: userJson,
    none: 'nobody',
  }));
}

export async function findUsers(invocation: Invocation): Promise<Report> {
  const text = (invocation.parameters[0] ?? '').trim();
  if (text === '' || text.length > MAX_TEXT) {
    throw new CannotRunError(`expected 1 to ${MAX_TEXT} characters of an email`);
  }
  return printList<UserProfile>(invocation, (services) => ({
    findPage: (after, limit) => services.get(UsersRepository).search(text, limit, after?.email),
    lineOf: userLine,
    jsonOf: userJson,
    none: 'nobody',
  }));
}

export function userLine({ id, email, disabledAt }: UserProfile): string {
  return `${id}  ${email}${disabledAt === null ? '' : '  DISABLED'}`;
}

export function showUser({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const sessions = await services.get(UserSessionsRepository).countAlive(user.id, Date.now());
    const orgs = await services.get(Memberships).findAllOrgs(user.id);
    const invitations = await services.get(InvitationLists).countPending(user.email, Date.now());
    const shown = userJson(user);
    return {
      lines: [
        ...Object.entries(shown).map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        `${'sessions'.padEnd(18)} ${sessions} alive`,
        `${'invitations'.padEnd(18)} ${invitations} pending`,
        ...orgs.map((org) => `${org.role.padEnd(18)} ${org.id}  ${org.name}${deletedMark(org)}`),
      ],
      json: [{ ...shown, sessions, invitations, orgs: orgs.map(orgJson) }],
    };
  });
}

function deletedMark({ deletedAt }: AnyUserOrg): string {
  return deletedAt === null ? '' : '  DELETED';
}

function orgJson({ id, name, role, deletedAt }: AnyUserOrg): object {
  return { id, name, role, ...(deletedAt !== null && { deletedAt: timeText(deletedAt) }) };
}

/** Writes page by page, because the audit log of a user can be long. */
export function exportUser({ parameters, options }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const document = services.get(UserExport).documentOf(user);
    for await (const text of documentText(document, options['json'] === true ? '' : '\n')) await write(text);
    return { lines: [], json: [] };
  });
}
