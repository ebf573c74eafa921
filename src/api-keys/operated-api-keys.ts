import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { BATCH } from '../database/statements.js';
import { type ChangeOutcome, Gone, Unchanged, UNCHANGED } from '../database/transactions/transactions.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { NO_FACTS } from '../orgs/state/orgs.repository.js';
import { UserChanges } from '../users/user-changes.js';
import { type ApiKeyFilter, ApiKeyListsRepository } from './api-keys.lists.js';
import { ApiKeysRepository } from './api-keys.repository.js';

/** Revokes API keys for operators. The command line loads it without what only requests need. */
@Injectable()
export class OperatedApiKeys {
  constructor(
    private readonly keys: ApiKeysRepository,
    private readonly lists: ApiKeyListsRepository,
    private readonly users: UserChanges,
    private readonly orgs: OrgChanges,
  ) {}

  /** @throws operator_protected */
  async revoke(id: string, actor: Actor): Promise<Pick<ChangeOutcome<unknown>, 'kind'>> {
    const key = await this.keys.findById(id);
    if (!key) return new Gone();
    const { userId, orgId } = key;
    const data = { keyId: id, reason: 'operator' } as const;
    if (orgId === null) {
      return this.users.inUser({ actor }, userId, async (tx, user) => {
        if (!(await this.keys.deleteOwn(tx, userId, id))) return UNCHANGED;
        return user.record({ type: 'key.revoked', data });
      });
    }
    return this.orgs.inAnyOrg({ actor }, orgId, NO_FACTS, async (tx, org) => {
      if (!org || !(await this.keys.deleteOfOrg(tx, orgId, id))) return new Unchanged({});
      await org.record({ type: 'key.revoked', userId, data });
      return {};
    });
  }

  /** Newest first, one transaction for each: a second run continues what a kill interrupted. Returns their number. */
  async revokeAll(filter: ApiKeyFilter, actor: Actor, note: (revoked: number) => void): Promise<number> {
    let revoked = 0;
    for (let before: string | undefined; ;) {
      const page = await this.lists.findPage(filter, BATCH, before);
      for (const { id } of page) if ((await this.revoke(id, actor)).kind === 'done') revoked += 1;
      if (page.length < BATCH) return revoked;
      note(revoked);
      before = page.at(-1)!.id;
    }
  }
}
