import { applyDecorators } from '@nestjs/common';
import { ApiBasicAuth, ApiBearerAuth, ApiParam, ApiSecurity } from '@nestjs/swagger';
import {
  BY_PASSWORD,
  type CallerKind,
  type ForBoundTokens,
  operatorsAssurance,
  RouteAccess,
} from './route-access.js';
import type { Role, ServiceScope } from './principal.js';

/** @param usedBy callers whose OpenAPI document lists the route */
export const Public = (...usedBy: CallerKind[]) =>
  applyDecorators(RouteAccess({ to: 'everyone', ...(usedBy.length > 0 && { usedBy }) }), ApiSecurity({}));

export const SignedIn = (tokens: ForBoundTokens = {}) =>
  applyDecorators(RouteAccess({ to: 'signed-in', ...tokens }), ApiBearerAuth());

/** Excludes delegated sessions: a service must not take the account over. */
export const SignedInByPassword = () =>
  applyDecorators(RouteAccess({ to: 'signed-in', assurance: BY_PASSWORD }), ApiBearerAuth());

/** Also admits a caller who sends a refresh token in the body; the handler checks the token. */
export const SignedInOrRefreshToken = () =>
  applyDecorators(
    RouteAccess({ to: 'signed-in', or: 'refresh-token', boundTokens: true }),
    ApiBearerAuth(),
    ApiSecurity({}),
  );

export const ApiOrgId = () =>
  ApiParam({
    name: 'orgId',
    type: String,
    format: 'uuid',
    description: 'id of the organization, from its creation or from `GET /api/me`',
  });

export const MinRole = (minRole: Role, tokens: ForBoundTokens = {}) =>
  applyDecorators(RouteAccess({ to: 'members', minRole, ...tokens }), ApiBearerAuth(), ApiOrgId());

export const MinRoleByPassword = (minRole: Role) =>
  applyDecorators(
    RouteAccess({ to: 'members', minRole, assurance: BY_PASSWORD }),
    ApiBearerAuth(),
    ApiOrgId(),
  );

/** A service that sends a secret has to send the right one. */
export const PublicOrService = () =>
  applyDecorators(
    RouteAccess({ to: 'everyone', or: 'service', usedBy: ['clients', 'services'] }),
    ApiSecurity({}),
    ApiBasicAuth(),
  );

export const AllowedServices = (scope: ServiceScope) =>
  applyDecorators(RouteAccess({ to: 'services', scope }), ApiBasicAuth());

export const Operators = () =>
  applyDecorators(RouteAccess({ to: 'operators', assurance: operatorsAssurance }), ApiBearerAuth());
