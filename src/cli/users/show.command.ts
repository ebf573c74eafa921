import { UserSessionsRepository } from '../../auth/sessions/user-sessions.repository.js';
import { InvitationListRepository } from '../../memberships/invitation-list.repository.js';
import { OwnershipRepository } from '../../memberships/ownership.repository.js';
import type { Invocation, Report } from '../command.js';
import { withServices } from '../services.js';
import { accountJson } from './account-text.js';
import { findUser } from './find-user.js';

export function showUser({ parameters }: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const user = await findUser(services, parameters[0]!);
    const sessions = await services.get(UserSessionsRepository).countAlive(user.id, Date.now());
    const orgs = await services.get(OwnershipRepository).findOrgsOf(user.id);
    const invitations = await services.get(InvitationListRepository).countPending(user.email, Date.now());
    const shown = accountJson(user);
    return {
      lines: [
        ...Object.entries(shown).map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        `${'sessions'.padEnd(18)} ${sessions} alive`,
        `${'invitations'.padEnd(18)} ${invitations} pending`,
        ...orgs.map(({ id, name, role }) => `${role.padEnd(18)} ${id}  ${name}`),
      ],
      json: [
        { ...shown, sessions, invitations, orgs: orgs.map(({ id, name, role }) => ({ id, name, role })) },
      ],
    };
  });
}
