import { UserSessionsRepository } from '../../auth/sessions/user-sessions.repository.js';
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
    const shown = accountJson(user);
    return {
      lines: [
        ...Object.entries(shown).map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`),
        `${'sessions'.padEnd(18)} ${sessions} alive`,
        ...orgs.map(({ id, name, role }) => `${role.padEnd(18)} ${id}  ${name}`),
      ],
      json: [{ ...shown, sessions, orgs: orgs.map(({ id, name, role }) => ({ id, name, role })) }],
    };
  });
}
