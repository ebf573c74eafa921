import { applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiSecurity } from '@nestjs/swagger';
import type { Role } from './role.js';
import { RouteAccess } from './route-access.js';

export const Public = () => applyDecorators(RouteAccess({ to: 'everyone' }), ApiSecurity({}));

export const SignedIn = () => applyDecorators(RouteAccess({ to: 'signed-in' }), ApiBearerAuth());

/** Not for services that hold a user's token from a one-time code: they must not take the account over. */
export const SignedInByPassword = () =>
  applyDecorators(RouteAccess({ to: 'signed-in', by: 'password' }), ApiBearerAuth());

/** Or everyone who sends a refresh token in the body; the handler checks that. */
export const SignedInOrRefreshToken = () =>
  applyDecorators(RouteAccess({ to: 'signed-in', or: 'refresh-token' }), ApiBearerAuth(), ApiSecurity({}));

/** The parameter `orgId`. */
export const ApiOrgId = () =>
  ApiParam({
    name: 'orgId',
    type: String,
    format: 'uuid',
    description: 'id of the organization, from its creation or from `GET /api/me`',
  });

/** For routes below `/api/orgs/:orgId`: the caller's role in that organization, at least. */
export const MinRole = (minRole: Role) =>
  applyDecorators(RouteAccess({ to: 'members', minRole }), ApiBearerAuth(), ApiOrgId());

/** The same, but not for services that hold a user's token from a one-time code. */
export const MinRoleByPassword = (minRole: Role) =>
  applyDecorators(RouteAccess({ to: 'members', minRole, by: 'password' }), ApiBearerAuth(), ApiOrgId());
