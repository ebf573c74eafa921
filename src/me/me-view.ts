import { Injectable, type StreamableFile } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { AccountView } from './account-view.js';
import type { Included } from './included.decorator.js';
import type { MeResult } from './me.responses.js';
import { OwnOrgList } from './own-org-list.js';

@Injectable()
export class MeView {
  constructor(
    private readonly orgs: OwnOrgList,
    private readonly accounts: AccountView,
  ) {}

  /** Streams a long list of organizations, to bound memory and the time of one turn. */
  async of({ id, email, sessionId }: UserPrincipal, included: Included): Promise<MeResult | StreamableFile> {
    const reader = { id, sessionId, withRoles: included.has('roles') };
    const [first, account] = await Promise.all([
      this.orgs.begin(reader),
      included.has('account') ? this.accounts.of(id) : undefined,
    ]);
    const user = { id, email, ...(account && { emailVerified: account.emailVerified }) };
    return first.next ? this.orgs.stream(reader, first, { user, orgs: [] }) : { user, orgs: first.rows };
  }
}
