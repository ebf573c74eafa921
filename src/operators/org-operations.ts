import { Injectable } from '@nestjs/common';
import type { SignedInOperator } from '../access/actor.js';
import { OK } from '../http/ok.js';
import type { OkResult } from '../http/ok.responses.js';
import type { OrgDeletionResult, OrgResult } from '../orgs/orgs.responses.js';
import { OperatedOrgs } from '../orgs/operated-orgs.service.js';
import { OrgOwnersService } from '../orgs/org-owners.service.js';
import { asProblems } from './as-problems.js';
import { ChangeableUsers } from './changeable-users.js';
import type { MakeOwnerRequest } from './dto/make-owner.request.js';

@Injectable()
export class OrgOperations {
  constructor(
    private readonly users: ChangeableUsers,
    private readonly owners: OrgOwnersService,
    private readonly orgs: OperatedOrgs,
  ) {}

  async makeOwner(orgId: string, request: MakeOwnerRequest, actor: SignedInOperator): Promise<OkResult> {
    const { userId, force = false } = request;
    await this.users.require(userId, actor);
    await asProblems(this.owners.add({ orgId, userId, actor, force }));
    return OK;
  }

  async restore(orgId: string, actor: SignedInOperator, force: boolean): Promise<OrgResult> {
    return { org: await this.orgs.restore(orgId, { actor, force }) };
  }

  async delete(orgId: string, actor: SignedInOperator): Promise<OrgDeletionResult> {
    return { ok: true, purgeAt: new Date(await this.orgs.delete(orgId, actor)).toISOString() };
  }
}
