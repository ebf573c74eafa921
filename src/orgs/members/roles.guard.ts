import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { type Access, requireAssurance, RouteAccess } from '../../access/route-access.js';
import type { CurrentOrg } from '../../http/request-origin.js';
import { Env } from '../../config/env.js';
import { userOf } from '../../access/principal.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MembersRepository } from '../state/members.repository.js';
import { requiredByOrg } from '../state/orgs.errors.js';
import { requireRole } from '../state/policies.js';
import { Problem } from '../../problems/problem.js';

type OrgRequest = FastifyRequest<{ Params: { orgId: string } }> & { org: CurrentOrg };
type MemberAccess = Extract<Access, { to: 'members' }>;

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly members: MembersRepository,
    private readonly env: Env,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.get(RouteAccess, context.getHandler());
    if (access?.to === 'members') await this.requireMember(context.switchToHttp().getRequest(), access);
    return true;
  }

  private async requireMember(
    request: OrgRequest,
    { minRole, assurance, evenSuspended }: MemberAccess,
  ): Promise<void> {
    const { orgId } = request.params;
    const user = userOf(request);
    const found = isEntityId(orgId) ? await this.members.findMembership(orgId, user.id) : undefined;
    if (!found) throw new Problem('org_not_found');
    requireRole(found.role, 'member');
    if (found.isFactorRequired && !user.hasSecondFactor && !evenSuspended) throw requiredByOrg();
    requireRole(found.role, minRole);
    requireAssurance(user, assurance?.(this.env));
    const { orgName: name, revision, secondFactorFrom } = found;
    request.org = { id: orgId, name, revision, secondFactorFrom };
  }
}
