import { UserSessionsRepository } from '../../auth/sessions/user-sessions.repository.js';
import { InvitationListRepository } from '../../orgs/invitations/invitation-list.repository.js';
import { OwnershipRepository, type OrgWithRole } from '../../orgs/ownership.repository.js';
import type { Invocation, Report } from '../command.js';
import { withServices } from '../services.js';
import { timeText } from '../times.js';
import { userJson } from '../../users/user-json.js';
import { findUser } from './find-user.js';

export function showUser({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const sessions = await services.get(UserSessionsRepository).countAlive(user.id, Date.now());
    const orgs = await services.get(OwnershipRepository).findOrgsOf(user.id);
    const invitations = await services.get(InvitationListRepository).countPending(user.email, Date.now());
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

function deletedMark({ deletedAt }: OrgWithRole): string {
  return deletedAt === null ? '' : '  DELETED';
}

function orgJson({ id, name, role, deletedAt }: OrgWithRole): object {
  return { id, name, role, ...(deletedAt !== null && { deletedAt: timeText(deletedAt) }) };
}
