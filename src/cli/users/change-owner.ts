import type { OperatorActor } from '../../access/actor.js';
import { OwnershipRepository } from '../../orgs/ownership.repository.js';
import type { OrphanedOrg } from '../../users/user-ties.js';
import type { UserProfile } from '../../users/users.repository.js';
import type { Invocation, Report } from '../command.js';
import type { Services } from '../services.js';
import { changeUser } from './change-user.js';

interface OwnerChange {
  /** Returns undefined if there was nothing to change. */
  make: (
    services: Services,
    user: UserProfile,
    how: { actor: OperatorActor; force: boolean },
  ) => Promise<OrphanedOrg[] | undefined>;
  done: string;
  unchanged: string;
}

/** Names all organizations that a forced change leaves without an enabled owner. */
export async function changeOwner(invocation: Invocation, { make, ...texts }: OwnerChange): Promise<Report> {
  const force = invocation.options['force'] === true;
  let orphaned: NamedOrg[] = [];
  const { lines, json } = await changeUser(invocation, {
    ...texts,
    make: async (services, user, actor) => {
      const left = await make(services, user, { actor, force });
      orphaned = await services.get(OwnershipRepository).withNames(left ?? []);
      return left !== undefined;
    },
  });
  const [result] = json;
  return {
    lines: [...lines, ...orphaned.map(textOf)],
    json: [{ ...result, ...(force && { orphanedOrgs: orphaned }) }],
  };
}

type NamedOrg = OrphanedOrg & { name: string };

function textOf({ id, name, isDeleted }: NamedOrg): string {
  const what = isDeleted
    ? 'is deleted: it had no other member'
    : `has no enabled owner now: accounts orgs set-owner ${id} <USER>`;
  return `organization ${id} (${name}) ${what}`;
}
