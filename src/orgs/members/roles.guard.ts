import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { type Access, requireAssurance, RouteAccess } from '../../access/route-access.js';
import type { CurrentOrg } from '../../http/request-origin.js';
import { userOf } from '../../access/principal.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MembersRepository } from '../state/members.repository.js';
import { requireRole } from '../state/policies.js';
import { Problem } from '../../problems/problem.js';

type OrgRequest = FastifyRequest<{ Params: { orgId: string } }> & { org: CurrentOrg };
type MemberAccess = Extract<Access, { to: 'members' }>;

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly members: MembersRepository,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    if (access?.to === 'members') await this.requireMember(context.switchToHttp().getRequest(), access);
    return true;
  }

  private async requireMember(request: OrgRequest, { minRole, assurance }: MemberAccess): Promise<void> {
    const { orgId } = request.params;
    const user = userOf(request);
    const found = isEntityId(orgId) ? await this.members.findMembership(orgId, user.id) : undefined;
    if (!found) throw new Problem('org_not_found');
    requireRole(found.role, minRole);
    requireAssurance(user, assurance);
    request.org = { id: found.orgId, name: found.orgName, revision: found.revision };
  }
}
