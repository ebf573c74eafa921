import { applyDecorators } from '@nestjs/common';
import { ApiBasicAuth, ApiBearerAuth, ApiParam, ApiSecurity } from '@nestjs/swagger';
import {
  type Access,
  apiKeysAssurance,
  type CallerKind,
  directSession,
  type ForBoundTokens,
  type ForUnverified,
  operatorsAssurance,
  RouteAccess,
} from './route-access.js';
import type { Role, ServiceScope } from './principal.js';

/** `evenSuspended` also admits members who lack a second factor that the organization requires. */
type MoreOfMembers = ForBoundTokens & { assurance?: typeof directSession; evenSuspended?: true };

const forUsers = (access: Access) => applyDecorators(RouteAccess(access), ApiBearerAuth());

export const Public = (...usedBy: CallerKind[]) =>
  applyDecorators(RouteAccess({ to: 'everyone', ...(usedBy.length > 0 && { usedBy }) }), ApiSecurity({}));

export const SignedIn = (more: ForBoundTokens & ForUnverified = {}) => forUsers({ to: 'signed-in', ...more });

/** Excludes delegated sessions, because a service must not take over the account. */
export const SignedInDirectly = (more: ForUnverified = {}) =>
  forUsers({ to: 'signed-in', assurance: directSession, ...more });

/** A stolen session is not enough to make credentials that outlive it. */
export const SignedInRecently = () => forUsers({ to: 'signed-in', assurance: apiKeysAssurance });

export const SignedInOrRefreshToken = () =>
  applyDecorators(
    forUsers({ to: 'signed-in', or: 'refresh-token', boundTokens: true, unverified: true }),
    ApiSecurity({}),
  );

export const ApiOrgId = () =>
  ApiParam({
    name: 'orgId',
    type: String,
    format: 'uuid',
    description: 'Id of the organization, from its creation or from `GET /api/me`.',
  });

export const MinRole = (minRole: Role, more: MoreOfMembers = {}) =>
  applyDecorators(forUsers({ to: 'members', minRole, ...more }), ApiOrgId());

export const MinRoleDirectly = (minRole: Role) => MinRole(minRole, { assurance: directSession });

export const PublicOrService = () =>
  applyDecorators(
    RouteAccess({ to: 'everyone', or: 'service', usedBy: ['clients', 'services'] }),
    ApiSecurity({}),
    ApiBasicAuth(),
  );

export const AllowedServices = (scope?: ServiceScope) =>
  applyDecorators(RouteAccess({ to: 'services', ...(scope && { scope }) }), ApiBasicAuth());

export const Operators = () => forUsers({ to: 'operators', assurance: operatorsAssurance });
