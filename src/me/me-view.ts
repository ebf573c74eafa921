import { Injectable } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { UserOrgsRepository } from '../orgs/user-orgs.repository.js';
import { OrgsService } from '../orgs/orgs.service.js';
import { AccountView } from './account-view.js';
import type { Included } from './included.decorator.js';
import type { MeResult, OrgOfMe } from './me.responses.js';

/** more than anybody belongs to */
const ALL = 1_000_000;

@Injectable()
export class MeView {
  constructor(
    private readonly orgs: OrgsService,
    private readonly userOrgs: UserOrgsRepository,
    private readonly accounts: AccountView,
  ) {}

  async of({ id, email }: UserPrincipal, included: Included): Promise<MeResult> {
    if (included.size === 0) return { user: { id, email }, orgs: await this.orgs.listOf(id) };
    const [orgs, account] = await Promise.all([
      included.has('roles') ? this.listWithRoles(id) : this.orgs.listOf(id),
      included.has('account') ? this.accounts.of(id) : undefined,
    ]);
    const { emailVerified } = account ?? {};
    return { user: { id, email, ...(emailVerified !== undefined && { emailVerified }) }, orgs };
  }

  private async listWithRoles(userId: string): Promise<OrgOfMe[]> {
    const orgs = await this.userOrgs.findPage(userId, ALL);
    return orgs.map(({ id, name, role }) => ({ id, name, role }));
  }
}
