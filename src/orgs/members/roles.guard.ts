import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { type Access, requireAssurance, RouteAccess } from '../../access/route-access.js';
import type { CurrentOrg } from '../../http/request-origin.js';
import { roleAtLeast, userOf } from '../../access/principal.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { InsufficientRoleError } from '../state/orgs.errors.js';
import { MembersRepository } from '../state/members.repository.js';
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
    if (access?.to === 'members') await this.requireRole(context.switchToHttp().getRequest(), access);
    return true;
  }

  private async requireRole(request: OrgRequest, { minRole, assurance }: MemberAccess): Promise<void> {
    const { orgId } = request.params;
    const membership = isEntityId(orgId)
      ? await this.members.findMembership(orgId, userOf(request).id)
      : undefined;
    if (!membership) throw new Problem('org_not_found');
    if (membership.role === null) throw new Problem('not_a_member');
    if (!roleAtLeast(membership.role, minRole)) throw new InsufficientRoleError(minRole, membership.role);
    requireAssurance(userOf(request), assurance);
    const { orgName: name, revision } = membership;
    request.org = { id: membership.orgId, name, revision };
  }
}
