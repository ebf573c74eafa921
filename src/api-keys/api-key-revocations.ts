import { Injectable } from '@nestjs/common';
import type { Actor, Origin } from '../access/principal.js';
import { BATCH } from '../database/statements.js';
import {
  type ChangeOutcome,
  Gone,
  type Transaction,
  Unchanged,
  UNCHANGED,
} from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import type { KeyDetails } from '../mail/template.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { NO_FACTS } from '../orgs/state/orgs.repository.js';
import { UserChanges } from '../users/user-changes.js';
import { UsersRepository } from '../users/users.repository.js';
import { findApiKeyIn, hashApiKey } from './api-key-format.js';
import { type ApiKey, type ApiKeyFilter, ApiKeysRepository } from './api-keys.repository.js';

type ApiKeyOutcome = Pick<ChangeOutcome<unknown>, 'kind'>;

/** Revokes API keys of any owner. The command line loads it without what only requests need. */
@Injectable()
export class ApiKeyRevocations {
  constructor(
    private readonly keys: ApiKeysRepository,
    private readonly changes: UserChanges,
    private readonly orgs: OrgChanges,
    private readonly users: UsersRepository,
    private readonly mails: Mails,
  ) {}

  /** Revokes the first key in the text. Does not reveal whether there was one. */
  async report(text: string, origin: Origin): Promise<void> {
    const found = findApiKeyIn(text);
    const key = found === undefined ? null : await this.keys.findByHash(hashApiKey(found));
    if (key) await this.revokeAny(key, { kind: 'system', ...origin }, 'reported');
  }

  /** @throws operator_protected */
  async revoke(id: string, actor: Actor): Promise<ApiKeyOutcome> {
    const key = await this.keys.findById(id);
    return key ? this.revokeAny(key, actor, 'operator') : new Gone();
  }

  /** Newest first, one transaction for each: a second run continues what a kill interrupted. Returns their number. */
  async revokeAll(filter: ApiKeyFilter, actor: Actor, note: (revoked: number) => void): Promise<number> {
    let revoked = 0;
    for (let before: string | undefined; ;) {
      const page = await this.keys.findPage(filter, BATCH, before);
      for (const { id } of page) if ((await this.revoke(id, actor)).kind === 'done') revoked += 1;
      if (page.length < BATCH) return revoked;
      note(revoked);
      before = page.at(-1)!.id;
    }
  }

  /** A deleted organization and a disabled user are no exceptions. */
  private revokeAny(key: ApiKey, actor: Actor, reason: 'operator' | 'reported'): Promise<ApiKeyOutcome> {
    const { userId, orgId } = key;
    const event = { type: 'key.revoked', data: { keyId: key.id, reason } } as const;
    if (orgId === null) {
      return this.changes.inUser({ actor }, userId, async (tx, user) => {
        if (!(await this.keys.deleteFound(tx, key))) return UNCHANGED;
        await user.record({ ...event });
        return this.notify(tx, key, user.email, reason);
      });
    }
    return this.orgs.inAnyOrg({ actor }, orgId, NO_FACTS, async (tx, org) => {
      const user = await this.users.findById(userId, tx);
      if (!org || !user || !(await this.keys.deleteFound(tx, key))) return new Unchanged({});
      await org.record({ ...event, userId });
      await this.notify(tx, key, user.email, reason);
      return {};
    });
  }

  private async notify(
    tx: Transaction,
    key: ApiKey,
    recipient: string,
    reason: 'operator' | 'reported',
  ): Promise<void> {
    if (reason === 'reported') await this.mails.notify(tx, keyNotice('key_reported', key, recipient));
  }
}

export function keyNotice(
  kind: 'key_created' | 'key_reported',
  { name, audience: service, userId: senderId }: Pick<ApiKey, 'name' | 'audience' | 'userId'>,
  recipient: string,
) {
  return { kind, recipient, senderId, details: JSON.stringify({ name, service } satisfies KeyDetails) };
}
