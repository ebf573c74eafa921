import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBearerAuth, ApiParam, ApiSecurity } from '@nestjs/swagger';
import type { Role } from './role.js';

/** Who may call a route. Every route declares exactly one; a route that declares none is refused. */
export type Access = { to: 'everyone' } | { to: 'signed-in' } | { to: 'members'; minRole: Role };

export const RouteAccess = Reflector.createDecorator<Access>();

export const Public = () => applyDecorators(RouteAccess({ to: 'everyone' }), ApiSecurity({}));

export const SignedIn = () => applyDecorators(RouteAccess({ to: 'signed-in' }), ApiBearerAuth());

/** For routes below `/api/orgs/:id`: the caller's role in that organization, at least. */
export const MinRole = (minRole: Role) =>
  applyDecorators(
    RouteAccess({ to: 'members', minRole }),
    ApiBearerAuth(),
    ApiParam({ name: 'id', type: String, description: 'id of the organization' }),
  );
