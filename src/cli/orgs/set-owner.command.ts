import { OrgOwnersService } from '../../orgs/org-owners.service.js';
import type { Invocation, Report } from '../command.js';
import { operatorOf } from '../operator.js';
import { withServices } from '../services.js';
import { findUser } from '../users/find-user.js';
import { findOrg } from './find-org.js';

export function setOwner(invocation: Invocation): Promise<Report> {
  return withServices(async (services) => {
    const actor = operatorOf(invocation);
    const [orgId = '', userText = ''] = invocation.parameters;
    const org = await findOrg(services, orgId);
    const user = await findUser(services, userText);
    const force = invocation.options['force'] === true;
    const changed = await services
      .get(OrgOwnersService)
      .add({ orgId: org.id, userId: user.id, actor, force });
    return {
      lines: [
        `${user.email} (${user.id}): ${changed ? 'owner now' : 'an owner already'} of ${org.name} (${org.id})`,
      ],
      json: [{ orgId: org.id, userId: user.id, changed }],
    };
  });
}
