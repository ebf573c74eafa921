import { Injectable } from '@nestjs/common';
import {
  decodeNameCursor,
  encodeNameCursor,
  filteredPage,
  limitOf,
  linkNext,
  type LinkNextPage,
} from '../http/pages.js';
import type { SignedInOperator } from '../access/principal.js';
import { MemberListsService } from '../orgs/members/member-lists.service.js';
import { OrgNotFoundError } from '../orgs/state/orgs.errors.js';
import { MembersService } from '../orgs/members/members.service.js';
import { type ListedOrg, OrgsRepository } from '../orgs/state/orgs.repository.js';
import type { Org } from '../orgs/state/org.entity.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import type { ListOrgMembersQuery, ListOrgsQuery } from './operators.query.js';
import type { MakeOwnerRequest } from './operation.requests.js';
import { asProblems } from './operators.errors.js';
import type { OrgListResult, OrgMembersResult, ShownOrgResult } from './operators.responses.js';
import { OperatorUsersService } from './users.service.js';
import { orgView } from './views.js';

@Injectable()
export class OperatorOrgsService {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly memberRows: MembersRepository,
    private readonly memberLists: MemberListsService,
    private readonly members: MembersService,
    private readonly users: OperatorUsersService,
  ) {}

  async list(query: ListOrgsQuery, linkNextPage: LinkNextPage): Promise<OrgListResult> {
    const { search: prefix = '', status, cursor } = query;
    const start = cursor === undefined ? undefined : decodeNameCursor(cursor);
    const isWanted = ({ deletedAt }: ListedOrg): boolean =>
      status === undefined || (deletedAt !== null) === (status === 'deleted');
    const { rows, last } = await filteredPage({ limit: limitOf(query), isWanted }, (size, after) => {
      const search = { prefix, after: after ?? start };
      return status === 'deleted' ? this.orgs.findDeleted(search, size) : this.orgs.findPage(search, size);
    });
    return { orgs: rows.map(orgView), ...linkNext(last && encodeNameCursor(last), linkNextPage) };
  }

  /** @throws OrgNotFoundError */
  async show(orgId: string): Promise<ShownOrgResult> {
    const org = await this.find(orgId);
    const counts = { owner: 0, admin: 0, member: 0 };
    for (const { role, members } of await this.memberRows.countByRole(orgId)) counts[role] = members;
    return { org: { ...orgView(org), counts } };
  }

  /** @throws OrgNotFoundError */
  async listMembers(
    orgId: string,
    query: ListOrgMembersQuery,
    linkNextPage: LinkNextPage,
  ): Promise<OrgMembersResult> {
    const { id } = await this.find(orgId);
    return this.memberLists.search(id, query, linkNextPage);
  }

  async makeOwner(orgId: string, request: MakeOwnerRequest, actor: SignedInOperator): Promise<void> {
    const { userId, force = false } = request;
    await this.users.requireChangeable(userId, actor);
    await asProblems(this.members.makeOwner({ orgId, userId, actor, force }));
  }

  private async find(id: string): Promise<Org> {
    const org = await this.orgs.find(id);
    if (!org) throw new OrgNotFoundError();
    return org;
  }
}
